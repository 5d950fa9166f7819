// What is in the database of a loaded graph: its relationships.
// params: graph
// returns: source, target, type, properties
// mode: read
MATCH (a:LoadedNode {graph: $graph})-[r]->(b:LoadedNode {graph: $graph})
RETURN a.id AS source, b.id AS target, type(r) AS type, properties(r) AS properties
