// Number of nodes with a label, counted up to a limit.
// params: label: str, limit: int
// returns: count: int
// mode: read
// sees: everything
MATCH (n:$($label))
WITH n LIMIT $limit
RETURN count(n) AS count
