// Number of nodes, as proof that the user may read.
// returns: nodes: int
// mode: read
// sees: everything
MATCH (n)
RETURN count(n) AS nodes
