// Create a node, as proof that the user may write. Always rolled back.
// params:
// returns: created: int
// mode: write
// language: 5, 25
CREATE (n)
RETURN count(n) AS created
