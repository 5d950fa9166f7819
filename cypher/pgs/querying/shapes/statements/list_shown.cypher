// A template: the titles of the asked nodes with one more property, in order.
// params: condition: bool, limit: int
// returns: title: any?, shown: any?
// mode: read
// sees: everything
MATCH (asked:Asked)
WHERE $condition
WITH DISTINCT asked
RETURN asked.title AS title, asked.shown AS shown
ORDER BY title, elementId(asked)
LIMIT $limit
