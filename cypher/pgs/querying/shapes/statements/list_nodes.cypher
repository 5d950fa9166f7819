// A template: asked nodes whose label has no title, as they are.
// params: condition: bool, limit: int
// returns: asked: any
// mode: read
// sees: everything
MATCH (asked:Asked)
WHERE $condition
WITH DISTINCT asked
RETURN asked
ORDER BY elementId(asked)
LIMIT $limit
