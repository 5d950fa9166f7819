// A template: the number of asked nodes for each node that they are connected with.
// params: condition: bool, limit: int
// returns: title: any?, count: int
// mode: read
// sees: everything
MATCH (asked:Asked)
WHERE $condition
WITH DISTINCT asked
MATCH (asked)-[:LINK]->(other:Other)
WITH other, count(DISTINCT asked) AS count
RETURN other.title AS title, count
ORDER BY count DESC, title, elementId(other)
LIMIT $limit
