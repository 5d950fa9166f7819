// An entity with the numbers of chunks that mention it, and of its relations.
// params: graph: graph, id: str
// returns: id: str, name: str, type: str, mentions: int, description: str, chunks: int,
//   relations: int
// mode: read
// sees: documents
MATCH (e:LoadedNode {graph: $graph, id: $id})
WHERE e:`__Entity__`
RETURN e.id AS id, e.name AS name, e.type AS type, toInteger(e.weight) AS mentions,
       coalesce(e.description, '') AS description,
       COUNT { MATCH (e)-[:MENTIONED_IN]->(c:Chunk) RETURN DISTINCT c } AS chunks,
       COUNT { (e)-[:RELATES]-(:`__Entity__`) } AS relations
