// A template: some of the shortest paths between two nodes, as titles and types in order.
// params: first: str, second: str, limit: int
// returns: titles: list[any?], types: list[str]
// mode: read
// sees: everything
MATCH (first:First)
WHERE first.title = $first
MATCH (second:Second)
WHERE second.title = $second
MATCH path = allShortestPaths((first)-[:LINK*..4]-(second))
RETURN [node IN nodes(path) | coalesce(node.title)] AS titles,
       [one IN relationships(path) | type(one)] AS types
ORDER BY types, titles
LIMIT $limit
