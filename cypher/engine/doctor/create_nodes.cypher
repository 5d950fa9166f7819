// Create a node, as proof that the user may write. Always rolled back.
// returns: created: int
// mode: write
// sees: everything
CREATE (n)
RETURN count(n) AS created
