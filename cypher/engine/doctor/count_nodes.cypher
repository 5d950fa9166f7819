// Number of nodes, as proof that the user may read.
// returns: nodes: int
// mode: read
MATCH (n)
RETURN count(n) AS nodes
