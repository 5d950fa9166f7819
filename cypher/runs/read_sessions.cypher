// Sessions, newest first; an empty graph name means all graphs.
// params: graph
// returns: id, graph, uid, created_at, updated_at, runs
// mode: read
MATCH (s:PgsSession)
WHERE $graph = '' OR s.graph = $graph
RETURN s.id AS id, s.graph AS graph, s.uid AS uid, toString(s.created_at) AS created_at,
       toString(s.updated_at) AS updated_at, COUNT { (s)<-[:PGS_RAN_IN]-(:PgsRun) } AS runs
ORDER BY s.updated_at DESC, uid
