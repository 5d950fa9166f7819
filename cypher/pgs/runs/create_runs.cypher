// Create a run in a session. No row if the session or the generation is gone; the run of a search
// may have no generation, given as ''. If the idempotency key is in use, the row has the id of the
// earlier run. `days` are rows of what was spent for the run before, by day.
// params: session: str, id: str, generation: str, idempotency: str, properties: dict,
//   days: list[dict]
// returns: id: str
// mode: write
MATCH (s:PgsSession {uid: $session})
OPTIONAL MATCH (c:PgsGeneration {id: $generation})
SET c.checked_at = datetime()
WITH s, c WHERE c.status = 'complete' OR $generation = ''
CALL (s, c) {
  WITH s, c WHERE $idempotency <> ''
  MERGE (r:PgsRun {idempotency: $idempotency})
  ON CREATE SET r.id = $id
  RETURN r
  UNION ALL
  WITH s, c WHERE $idempotency = ''
  MERGE (r:PgsRun {id: $id})
  RETURN r
}
FOREACH (new IN CASE WHEN r.id = $id THEN [r] ELSE [] END |
  SET new.started_at = coalesce(new.started_at, datetime()), new += $properties,
      new.status = 'running', new.updated_at = datetime()
  MERGE (new)-[:PGS_RAN_IN]->(s)
  FOREACH (one IN CASE WHEN c IS NULL THEN [] ELSE [c] END | MERGE (new)-[:PGS_ON]->(one))
  FOREACH (row IN $days |
    MERGE (d:PgsSpending {id: row.id})
    SET d += row, d.graph = s.graph, d.session = s.id))
RETURN r.id AS id
