// A template: the number of asked nodes. Links and conditions stand in the place of $condition.
// params: condition: bool
// returns: count: int
// mode: read
// sees: everything
MATCH (asked:Asked)
WHERE $condition
WITH DISTINCT asked
RETURN count(asked) AS count
