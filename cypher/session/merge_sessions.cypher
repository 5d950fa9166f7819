// Open a session, or find it open already.
// params: uid, graph, id
// returns: created_at
// mode: write
MATCH (g:PgsGraph {name: $graph})
MERGE (s:PgsSession {uid: $uid})
ON CREATE SET s.id = $id, s.graph = $graph, s.created_at = datetime()
SET s.updated_at = datetime()
MERGE (s)-[:PGS_OF]->(g)
RETURN toString(s.created_at) AS created_at
