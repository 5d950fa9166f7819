// Count this transaction as one of the package; all others are changes from outside.
// params:
// returns:
// mode: write
// language: 5, 25
MATCH (m:PgsMeta {id: 'pgs'})
SET m.commits = coalesce(m.commits, 0) + 1
