// A template: the titles of the asked nodes, in order.
// params: condition: bool, limit: int
// returns: title: any?
// mode: read
// sees: everything
MATCH (asked:Asked)
WHERE $condition
WITH DISTINCT asked
RETURN asked.title AS title
ORDER BY title, elementId(asked)
LIMIT $limit
