// Facts that have no vector of a model, in the order of their ends and their type: also those of
// entities outside of the view, since a fact stays the same when these enter or leave it.
// params: graph: graph, model: str, source: str, type: str, target: str, most: int
// returns: source: str, type: str, target: str, text: str
// mode: read
// sees: documents
MATCH (s:LoadedNode {graph: $graph})
WHERE s.id >= $source
MATCH (s)-[r:RELATES]->(t:LoadedNode)
WHERE coalesce(r.embedded_by, '') <> $model
      AND (s.id > $source OR r.rel_type > $type OR (r.rel_type = $type AND t.id > $target))
WITH s.id AS source, r.rel_type AS type, t.id AS target, r.fact AS text
ORDER BY source, type, target LIMIT $most
RETURN source, type, target, text
ORDER BY source, type, target
