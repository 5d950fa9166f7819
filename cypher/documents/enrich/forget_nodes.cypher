// Remove the vectors that another model made of the texts of nodes, some at a time. Nothing happens
// for a writer who lost the right to write.
// params: graph: graph, holder: str, model: str, most: int
// returns: removed: int
// mode: data
// sees: documents
MATCH (w:PgsIngest {graph: $graph})
SET w.moved_at = datetime()
WITH w WHERE w.holder = $holder
CALL () {
  MATCH (n:LoadedNode {graph: $graph})
  WHERE n.embedded_by < $model OR n.embedded_by > $model
  WITH n LIMIT $most
  REMOVE n.embedding, n.embedded_by
  RETURN count(*) AS removed
}
RETURN removed
