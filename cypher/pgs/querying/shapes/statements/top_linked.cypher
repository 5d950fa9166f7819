// A template: the asked nodes that are connected with the most other nodes.
// params: condition: bool, limit: int
// returns: title: any?, count: int
// mode: read
// sees: everything
MATCH (asked:Asked)
WHERE $condition
WITH DISTINCT asked
MATCH (asked)-[:LINK]->(other:Other)
WITH asked, count(DISTINCT other) AS count
RETURN asked.title AS title, count
ORDER BY count DESC, title, elementId(asked)
LIMIT $limit
