// Ids of runs that begin with a text, of the graphs of one scope, whose names end with `suffix`. An id that equals the text comes first, then the latest runs.
// params: prefix: str, limit: int, suffix: str
// returns: id: str, graph: graph
// mode: read
MATCH (r:PgsRun)-[:PGS_RAN_IN]->(s:PgsSession)
WHERE r.id STARTS WITH $prefix
  AND CASE $suffix WHEN '' THEN NOT s.graph CONTAINS '~' ELSE s.graph ENDS WITH $suffix END
RETURN r.id AS id, s.graph AS graph ORDER BY r.id = $prefix DESC, r.started_at DESC, r.id
LIMIT $limit
