// Number of relationships of a type, counted up to a limit.
// params: type, limit
// returns: count
// mode: read
MATCH ()-[r:$($type)]->()
WITH r LIMIT $limit
RETURN count(r) AS count
