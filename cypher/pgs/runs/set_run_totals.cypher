// Record what a run has spent, including calls in flight, unless a later total is already stored.
// What it has spent on each of `days` stays stored when the run is deleted. No row if the run was
// taken over or deleted. The lock of the run is taken before its holder is read.
// params: run: str, holder: str, spent: dict, days: list[dict]
// returns: id: str
// mode: write
MATCH (r:PgsRun {id: $run})
SET r.checked_at = true REMOVE r.checked_at
WITH r WHERE r.holder = $holder
OPTIONAL MATCH (r)-[:PGS_RAN_IN]->(s:PgsSession)
FOREACH (_ IN CASE WHEN coalesce(r.tally, 0) < $spent.tally THEN [1] ELSE [] END |
  SET r += $spent
  FOREACH (row IN $days |
    MERGE (d:PgsSpending {id: row.id})
    SET d += row, d.graph = s.graph, d.session = s.id)
)
SET r.updated_at = datetime()
RETURN r.id AS id
