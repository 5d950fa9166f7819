// Begin a run in a session. No row when the session or the generation is gone.
// params: session, id, generation, properties
// returns: id
// mode: write
MATCH (s:PgsSession {uid: $session})
MATCH (c:PgsGeneration {id: $generation})
SET c.checked_at = datetime()
WITH s, c WHERE c.status = 'complete'
MERGE (r:PgsRun {id: $id})
ON CREATE SET r.started_at = datetime()
SET r += $properties, r.status = 'running', r.updated_at = datetime()
MERGE (r)-[:PGS_RAN_IN]->(s)
MERGE (r)-[:PGS_ON]->(c)
RETURN r.id AS id
