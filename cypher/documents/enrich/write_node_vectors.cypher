// Write vectors of the texts of nodes; `blank` are nodes whose text has none. Nothing happens for a
// writer who lost the right to write.
// params: graph: graph, holder: str, model: str, rows: list[dict], blank: list[str]
// returns: written: int
// mode: data
// sees: documents
MATCH (w:PgsIngest {graph: $graph})
SET w.moved_at = datetime()
WITH w WHERE w.holder = $holder
CALL () {
  UNWIND $blank AS id
  MATCH (n:LoadedNode {graph: $graph, id: id})
  SET n.embedded_by = $model
  REMOVE n.embedding
}
CALL () {
  UNWIND $rows AS row
  MATCH (n:LoadedNode {graph: $graph, id: row.id})
  CALL db.create.setNodeVectorProperty(n, 'embedding', row.vector)
  SET n.embedded_by = $model
  RETURN count(*) AS written
}
RETURN written
