// Count a transaction as one of ours, in that transaction: what others committed is the rest.
// params:
// returns:
// mode: write
MATCH (m:PgsMeta {id: 'pgs'})
SET m.commits = coalesce(m.commits, 0) + 1
