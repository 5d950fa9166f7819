// A template: the mean, sum, least, or greatest value of a property of the asked nodes.
// params: condition: bool
// returns: result: number?
// mode: read
// sees: everything
MATCH (asked:Asked)
WHERE $condition
WITH DISTINCT asked
RETURN avg(asked.measure) AS result
