// The chunks that mention an entity, in the order of their documents.
// params: graph: graph, id: str, limit: int
// returns: chunk: str, document: str, name: str, page: int?, path: list[str]
// mode: read
// sees: documents
MATCH (e:LoadedNode {graph: $graph, id: $id})-[m:MENTIONED_IN]->(c:Chunk)
WITH c, min(m.name) AS name
MATCH (d:Document)-[:PART_OF]->(c)
RETURN c.id AS chunk, d.id AS document, name, c.page AS page, coalesce(c.path, []) AS path
ORDER BY document, c.index
LIMIT $limit
