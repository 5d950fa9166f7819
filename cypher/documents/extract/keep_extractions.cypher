// Keep what was extracted from chunks until their documents are published, with the ids of these.
// Nothing happens for a writer who lost the right to write: a deletion may have looked for the text
// since.
// params: graph: graph, holder: str, rows: list[dict]
// returns: held: bool
// mode: write
// plan: once
MATCH (w:PgsIngest {graph: $graph})
SET w.moved_at = datetime()
WITH w WHERE w.holder = $holder
CALL () {
  UNWIND $rows AS row
  MERGE (x:PgsExtraction {uid: $graph + '/' + row.key})
  SET x.graph = $graph, x.key = row.key, x.data = row.data,
      x.documents = row.documents
}
RETURN true AS held
