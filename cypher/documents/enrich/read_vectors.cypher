// The vectors of a graph's entities, by one model, in pages by id.
// params: graph: graph, model: str, after: str, limit: int
// returns: id: str, key: str, type: str, vector: list[float]
// mode: read
// sees: documents
MATCH (e:LoadedNode {graph: $graph})
WHERE e:`__Entity__` AND e.embedded_by = $model AND e.id > $after
RETURN e.id AS id, e.key AS key, e.type AS type, e.embedding AS vector
ORDER BY id
LIMIT $limit
