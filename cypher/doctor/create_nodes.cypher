// Whether the user may write. It is only ever run to be rolled back.
// params:
// returns: created
// mode: write
CREATE (n)
RETURN count(n) AS created
