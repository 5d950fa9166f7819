// A document of a graph with its chunks in order, and how many entities these mention.
// params: graph: graph, id: str
// returns: document: dict, chunks: list[dict], entities: int
// mode: read
// sees: documents
MATCH (d:LoadedNode {graph: $graph, id: $id})
WHERE d:Document
RETURN d {.source, .loader, .media_type, ingested_at: toString(d.ingested_at)} AS document,
       COLLECT {
         MATCH (d)-[:PART_OF]->(c:Chunk)
         RETURN c {.id, .index, .page, .path, .start, .end, .extraction} ORDER BY c.index
       } AS chunks,
       COUNT {
         MATCH (d)-[:PART_OF]->(:Chunk)<-[:MENTIONED_IN]-(e:`__Entity__`)
         RETURN DISTINCT e
       } AS entities
