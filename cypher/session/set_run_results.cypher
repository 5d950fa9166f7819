// Close a run: its status, answer, and figures.
// params: run, properties
// returns: id
// mode: write
MATCH (r:PgsRun {id: $run})
SET r += $properties, r.finished_at = datetime()
WITH r
MATCH (r)-[:PGS_RAN_IN]->(s:PgsSession)
SET s.updated_at = datetime()
RETURN r.id AS id
