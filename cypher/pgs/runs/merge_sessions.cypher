// Open a session, new or existing.
// params: uid: str, graph: graph, id: str
// returns: uid: str
// mode: write
MATCH (g:PgsGraph {name: $graph})
MERGE (s:PgsSession {uid: $uid})
ON CREATE SET s.id = $id, s.graph = $graph, s.created_at = datetime()
SET s.updated_at = datetime()
MERGE (s)-[:PGS_OF]->(g)
RETURN s.uid AS uid
