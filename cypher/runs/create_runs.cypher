// Create a run in a session. No row if the session or the generation is gone. If the idempotency
// key is in use, the row has the id of the earlier run.
// params: session: str, id: str, generation: str, idempotency: str, properties: dict
// returns: id: str
// mode: write
// language: 5, 25
MATCH (s:PgsSession {uid: $session})
MATCH (c:PgsGeneration {id: $generation})
SET c.checked_at = datetime()
WITH s, c WHERE c.status = 'complete'
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
  MERGE (new)-[:PGS_ON]->(c))
RETURN r.id AS id
