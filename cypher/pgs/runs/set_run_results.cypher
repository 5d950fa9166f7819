// Close a run with its status, answer, and figures, and record what it has spent on each of `days`.
// `sweeps` are the sweeps that its synthesis used. No row if the run was taken over or deleted. The
// lock of the run is taken before its holder is read.
// params: run: str, holder: str, properties: dict, sweeps: list[str], days: list[dict]
// returns: id: str
// mode: write
MATCH (r:PgsRun {id: $run})
SET r.checked_at = true REMOVE r.checked_at
WITH r WHERE r.holder = $holder
SET r += $properties, r.finished_at = datetime(), r.updated_at = datetime()
WITH r
OPTIONAL MATCH (w:PgsSweep) WHERE w.id IN $sweeps
SET w.synthesized = true
WITH DISTINCT r
MATCH (r)-[:PGS_RAN_IN]->(s:PgsSession)
SET s.updated_at = datetime()
FOREACH (row IN $days |
  MERGE (d:PgsSpending {id: row.id})
  SET d += row, d.graph = s.graph, d.session = s.id)
RETURN r.id AS id
