// A template: asked nodes that are connected with a named node. The names of labels, of the type,
// and of the property are replaced, and the arrow may be turned.
// params: name: str
// returns: nodes: int
// mode: read
// sees: everything
MATCH (asked:Asked)-[:LINK]->(named:Named)
WHERE named.title = $name
RETURN count(asked) AS nodes
