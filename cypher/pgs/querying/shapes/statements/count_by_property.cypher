// A template: the number of asked nodes for each value of a property.
// params: condition: bool, limit: int
// returns: grouped: any?, count: int
// mode: read
// sees: everything
MATCH (asked:Asked)
WHERE $condition
WITH DISTINCT asked
RETURN asked.grouped AS grouped, count(asked) AS count
ORDER BY grouped
LIMIT $limit
