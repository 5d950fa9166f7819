// Delete the views of a graph, after their relationships.
// params: base: graph
// returns: deleted: int
// mode: write
// locks: graph
MATCH (v:PgsView {base: $base})
DETACH DELETE v
RETURN count(*) AS deleted
