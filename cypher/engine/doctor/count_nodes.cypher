// Number of nodes, as proof that the user may read.
// params:
// returns: nodes: int
// mode: read
// language: 5, 25
MATCH (n)
RETURN count(n) AS nodes
