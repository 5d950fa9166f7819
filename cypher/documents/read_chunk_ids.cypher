// The ids of the chunks of some documents, in order.
// params: graph: graph, documents: list[str]
// returns: id: str
// mode: read
// plan: once
// sees: documents
UNWIND range(0, size($documents) - 1) AS place
MATCH (:LoadedNode {graph: $graph, id: $documents[place]})-[:PART_OF]->(c:Chunk)
RETURN c.id AS id
ORDER BY place, c.index
