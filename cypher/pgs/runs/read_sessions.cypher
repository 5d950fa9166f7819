// Sessions of the graphs of one scope, whose names end with `suffix`, newest first. An empty graph
// name means all of these graphs.
// params: graph: graph, suffix: str
// returns: id: str, graph: graph, uid: str, created_at: str, updated_at: str, runs: int
// mode: read
MATCH (s:PgsSession)
WHERE CASE $suffix WHEN '' THEN NOT s.graph CONTAINS '~' ELSE s.graph ENDS WITH $suffix END
  AND ($graph = '' OR s.graph = $graph)
RETURN s.id AS id, s.graph AS graph, s.uid AS uid, toString(s.created_at) AS created_at,
       toString(s.updated_at) AS updated_at, COUNT { (s)<-[:PGS_RAN_IN]-(:PgsRun) } AS runs
ORDER BY s.updated_at DESC, uid
