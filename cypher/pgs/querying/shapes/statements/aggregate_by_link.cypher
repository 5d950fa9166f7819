// A template: the mean, sum, least, or greatest value of a property of the asked nodes, for each
// node that they are connected with.
// params: condition: bool, limit: int
// returns: title: any?, result: number?
// mode: read
// sees: everything
MATCH (asked:Asked)
WHERE $condition
WITH DISTINCT asked
MATCH (asked)-[:LINK]->(other:Other)
WITH DISTINCT asked, other
WITH other, avg(asked.measure) AS result
RETURN other.title AS title, result
ORDER BY result DESC, title, elementId(other)
LIMIT $limit
