// A template: the mean, sum, least, or greatest value of a property, for each value of another one.
// params: condition: bool, limit: int
// returns: grouped: any?, result: number?
// mode: read
// sees: everything
MATCH (asked:Asked)
WHERE $condition
WITH DISTINCT asked
RETURN asked.grouped AS grouped, avg(asked.measure) AS result
ORDER BY grouped
LIMIT $limit
