// Describe entities; they wait for no description any more, and a vector of what was said
// before goes. Nothing happens for a writer who lost the right to write.
// params: graph: graph, holder: str, describer: str, rows: list[dict]
// returns: written: int
// mode: data
// sees: documents
MATCH (w:PgsIngest {graph: $graph})
SET w.moved_at = datetime()
WITH w WHERE w.holder = $holder
CALL () {
  UNWIND $rows AS row
  MATCH (e:LoadedNode {graph: $graph, id: row.id})
  WITH e, row, e.description AS former
  SET e.description = row.description, e.described_by = $describer
  REMOVE e.undescribed
  FOREACH (_ IN CASE WHEN former = row.description THEN [] ELSE [1] END |
    REMOVE e.embedding, e.embedded_by)
  RETURN count(*) AS written
}
RETURN written
