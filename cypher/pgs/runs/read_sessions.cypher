// Sessions, newest first; an empty graph name means all graphs.
// params: graph: str
// returns: id: str, graph: str, uid: str, created_at: str, updated_at: str, runs: int
// mode: read
MATCH (s:PgsSession)
WHERE $graph = '' OR s.graph = $graph
RETURN s.id AS id, s.graph AS graph, s.uid AS uid, toString(s.created_at) AS created_at,
       toString(s.updated_at) AS updated_at, COUNT { (s)<-[:PGS_RAN_IN]-(:PgsRun) } AS runs
ORDER BY s.updated_at DESC, uid
