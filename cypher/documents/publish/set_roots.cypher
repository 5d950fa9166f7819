// Store of which folders some documents of a graph are, by hashes of their paths. Nothing happens for
// a writer who lost the right to write.
// params: graph: graph, holder: str, rows: list[dict]
// returns: held: bool
// mode: write
// locks: graph
// sees: documents
MATCH (w:PgsIngest {graph: $graph})
SET w.moved_at = datetime()
WITH w WHERE w.holder = $holder
CALL () {
  UNWIND $rows AS row
  MATCH (d:LoadedNode {graph: $graph, id: row.id})
  WHERE d:Document
  SET d.roots = row.roots
}
RETURN true AS held
