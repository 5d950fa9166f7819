// The texts of all chunks of a graph, but for those of the documents that go.
// params: graph: graph, gone: list[str]
// returns: text: str
// mode: read
// sees: documents
MATCH (c:LoadedNode:Chunk {graph: $graph})
WHERE NOT EXISTS { MATCH (d:LoadedNode)-[:PART_OF]->(c) WHERE d.id IN $gone }
WITH c.text AS text WHERE text IS :: STRING NOT NULL
RETURN text
