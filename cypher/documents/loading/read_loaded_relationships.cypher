// What is in the database of a loaded graph: its relationships.
// params: graph: graph
// returns: source: any?, target: any?, type: str, properties: list[list[any]]
// mode: read
// sees: documents
MATCH (a:LoadedNode {graph: $graph})-[r]->(b:LoadedNode {graph: $graph})
RETURN a.id AS source, b.id AS target, type(r) AS type, [key IN keys(r) | [key, r[key]]] AS properties
