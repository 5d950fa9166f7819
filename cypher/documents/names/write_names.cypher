// Store names that are not stored.
// params: graph: graph, holder: str, rows: list[dict]
// returns: held: bool
// mode: write
// plan: once
MATCH (w:PgsIngest {graph: $graph})
SET w.moved_at = datetime()
WITH w WHERE w.holder = $holder
CALL () {
  UNWIND $rows AS row
  MERGE (n:PgsName {graph: $graph, key: row.key, type: row.type})
  SET n += row
}
RETURN true AS held
