// Ids of runs that begin with a text. An id that equals the text comes first, then the latest runs.
// params: prefix: str, limit: int
// returns: id: str
// mode: read
MATCH (r:PgsRun)-[:PGS_RAN_IN]->(:PgsSession)
WHERE r.id STARTS WITH $prefix
RETURN r.id AS id ORDER BY r.id = $prefix DESC, r.started_at DESC, r.id
LIMIT $limit
