// Chunks, and entities of the view, whose texts have no vector of a model, in the order of their ids.
// params: graph: graph, model: str, entities: str, after: str, most: int
// returns: id: str, text: str?, name: str?, description: str?
// mode: read
// sees: documents
MATCH (n:LoadedNode {graph: $graph})
WHERE n.id > $after AND coalesce(n.embedded_by, '') <> $model
      AND (n:Chunk OR $entities IN labels(n))
WITH n ORDER BY n.id LIMIT $most
RETURN n.id AS id, CASE WHEN n:Chunk THEN n.text END AS text, n.name AS name,
       n.description AS description
ORDER BY id
