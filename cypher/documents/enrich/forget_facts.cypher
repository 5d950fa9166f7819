// Remove the vectors that another model made of the facts of some nodes, in the order of the ids of
// these. Nothing happens for a writer who lost the right to write.
// params: graph: graph, holder: str, model: str, vector: str, after: str, most: int
// returns: last: str?
// mode: data
// sees: documents
MATCH (w:PgsIngest {graph: $graph})
SET w.moved_at = datetime()
WITH w WHERE w.holder = $holder
CALL () {
  MATCH (s:LoadedNode {graph: $graph})
  WHERE s.id > $after
  WITH s ORDER BY s.id LIMIT $most
  CALL (s) {
    MATCH (s)-[r:RELATES]->()
    WHERE r.embedded_by <> $model
    REMOVE r.embedded_by
    SET r[$vector] = null
  }
  RETURN max(s.id) AS last
}
RETURN last
