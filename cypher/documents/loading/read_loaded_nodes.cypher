// What is in the database of a loaded graph: its nodes.
// params: graph: str
// returns: labels: list[str], properties: dict
// mode: read
MATCH (n:LoadedNode {graph: $graph})
RETURN labels(n) AS labels, properties(n) AS properties
