// Count this transaction as one of the package; all others are changes from outside. Statements that
// lock nodes of the user are counted apart: they keep the lock of their count while they wait.
// params: counter: str
// returns:
// mode: write
// language: 5, 25
MATCH (:PgsMeta {id: 'pgs'})
MERGE (m:PgsMeta {id: $counter})
SET m.commits = coalesce(m.commits, 0) + 1
