// How many chunks, entities of the view, and facts have no vector of a model, and the characters
// of their texts.
// params: graph: graph, model: str, entities: str
// returns: texts: int, characters: int
// mode: read
// sees: documents
CALL () {
  MATCH (n:LoadedNode {graph: $graph})
  WHERE coalesce(n.embedded_by, '') <> $model AND (n:Chunk OR $entities IN labels(n))
  RETURN CASE WHEN n:Chunk THEN n.text ELSE coalesce(n.name, '') + coalesce(n.description, '') END
         AS text
  UNION ALL
  MATCH (s:LoadedNode {graph: $graph})-[r:RELATES]->(t:LoadedNode)
  WHERE coalesce(r.embedded_by, '') <> $model
  RETURN r.fact AS text
}
RETURN count(*) AS texts, coalesce(sum(size(text)), 0) AS characters
