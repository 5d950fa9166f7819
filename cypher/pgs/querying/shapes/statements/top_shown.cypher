// A template: the asked nodes with the highest or lowest value of a property, with one more
// property of each.
// params: condition: bool, limit: int
// returns: title: any?, shown: any?, measure: any?
// mode: read
// sees: everything
MATCH (asked:Asked)
WHERE $condition
WITH DISTINCT asked
RETURN asked.title AS title, asked.shown AS shown, asked.measure AS measure
ORDER BY measure DESC, title, elementId(asked)
LIMIT $limit
