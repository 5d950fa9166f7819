// The graph of a run, with the scope and the view in its name.
// params: run: str
// returns: stored: str
// mode: read
MATCH (:PgsRun {id: $run})-[:PGS_RAN_IN]->(s:PgsSession)
RETURN s.graph AS stored
