// What is in the database of a loaded graph: its nodes.
// params: graph: graph
// returns: labels: list[str], properties: dict
// mode: read
// sees: documents
MATCH (n:LoadedNode {graph: $graph})
RETURN labels(n) AS labels, properties(n) AS properties
