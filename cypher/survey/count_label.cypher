// Number of nodes with a label, counted up to a limit.
// params: label, limit
// returns: count
// mode: read
MATCH (n:$($label))
WITH n LIMIT $limit
RETURN count(n) AS count
