// Write vectors of facts into a property of their relationships; `blank` are facts that have none.
// Nothing happens for a writer who lost the right to write.
// params: graph: graph, holder: str, model: str, vector: str, rows: list[dict], blank: list[dict]
// returns: written: int
// mode: data
// sees: documents
MATCH (w:PgsIngest {graph: $graph})
SET w.moved_at = datetime()
WITH w WHERE w.holder = $holder
CALL () {
  UNWIND $blank AS row
  MATCH (s:LoadedNode {graph: $graph, id: row.source})
  MATCH (t:LoadedNode {graph: $graph, id: row.target})
  MATCH (s)-[r:RELATES {rel_type: row.type}]->(t)
  SET r.embedded_by = $model, r[$vector] = null
}
CALL () {
  UNWIND $rows AS row
  MATCH (s:LoadedNode {graph: $graph, id: row.source})
  MATCH (t:LoadedNode {graph: $graph, id: row.target})
  MATCH (s)-[r:RELATES {rel_type: row.type}]->(t)
  CALL db.create.setRelationshipVectorProperty(r, $vector, row.vector)
  SET r.embedded_by = $model
  RETURN count(*) AS written
}
RETURN written
