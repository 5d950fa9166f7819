// Create the node of a graph within a scope. Its mapping is the mapping of the graph with the same
// name and no scope.
// params: name: graph
// returns: name: graph
// mode: write
MERGE (g:PgsGraph {name: $name})
ON CREATE SET g.created_at = datetime()
RETURN g.name AS name
