// A template: asked nodes that have a property.
// returns: nodes: int
// mode: read
// sees: everything
MATCH (asked:Asked)
WHERE asked.measure IS NOT NULL
RETURN count(asked) AS nodes
