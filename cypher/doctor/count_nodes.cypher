// Whether the user may read: how many nodes there are.
// params:
// returns: nodes
// mode: read
MATCH (n)
RETURN count(n) AS nodes
