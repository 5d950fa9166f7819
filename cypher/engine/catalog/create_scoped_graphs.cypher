// Create the node of a graph within a scope or a view. Its mapping is the mapping of the graph `base`,
// which it shows.
// params: name: graph, base: str
// returns: name: graph
// mode: write
MERGE (g:PgsGraph {name: $name})
ON CREATE SET g.created_at = datetime(), g.base = $base
RETURN g.name AS name
