// Number of relationships of a type, counted up to a limit.
// params: type: str, limit: int
// returns: count: int
// mode: read
// sees: everything
MATCH ()-[r:$($type)]->()
WITH r LIMIT $limit
RETURN count(r) AS count
