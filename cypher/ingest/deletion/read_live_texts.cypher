// The texts of all chunks of a graph.
// params: graph: str
// returns: text: str
// mode: read
// language: 5, 25
MATCH (c:LoadedNode:Chunk {graph: $graph})
RETURN c.text AS text
