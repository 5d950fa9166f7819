// Count this transaction as one of the package; all others are changes from outside. Statements that
// lock nodes of the user are counted apart: they keep the lock of their count while they wait. The
// token of the last deletion or purge is read behind that lock, so it stays until the commit.
// params: counter: str
// returns: token: str?
// mode: write
MATCH (p:PgsMeta {id: 'pgs'})
MERGE (m:PgsMeta {id: $counter})
ON CREATE SET m.token = p.token
SET m.commits = coalesce(m.commits, 0) + 1
WITH m
RETURN m.token AS token
