// Begin a run in a session.
// params: session, id, generation, properties
// returns: id
// mode: write
MATCH (s:PgsSession {uid: $session})
MATCH (c:PgsGeneration {id: $generation})
MERGE (r:PgsRun {id: $id})
ON CREATE SET r.started_at = datetime()
SET r += $properties, r.status = 'running'
MERGE (r)-[:PGS_RAN_IN]->(s)
MERGE (r)-[:PGS_ON]->(c)
RETURN r.id AS id
