// Delete some of the names of a graph.
// params: graph: graph, holder: str, limit: int
// returns: deleted: int
// mode: write
MATCH (w:PgsIngest {graph: $graph})
SET w.moved_at = datetime()
WITH w WHERE w.holder = $holder
MATCH (n:PgsName {graph: $graph})
WITH n LIMIT $limit
DELETE n
RETURN count(*) AS deleted
