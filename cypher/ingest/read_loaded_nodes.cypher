// What is in the database of a loaded graph: its nodes.
// params: graph
// returns: labels, properties
// mode: read
MATCH (n:LoadedNode {graph: $graph})
RETURN labels(n) AS labels, properties(n) AS properties
