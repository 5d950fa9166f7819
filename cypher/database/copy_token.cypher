// Give those who count their commits apart the token that all others have. It is read behind their
// lock, so that of two deletions at a time the later one decides.
// returns: token: str?
// mode: write
MERGE (g:PgsMeta {id: 'graph'})
SET g.checked_at = true REMOVE g.checked_at
WITH g
MATCH (m:PgsMeta {id: 'pgs'})
SET g.token = m.token
RETURN g.token AS token
