// Write one batch of nodes out of sight: their only label is ours until the load is complete.
// The counter makes a repeated batch harmless; the first SET takes the lock.
// params: graph: graph, load: str, batch: int, rows: list[dict]
// returns: batches: int
// mode: data
MATCH (l:PgsLoad {graph: $graph})
SET l.moved_at = datetime()
WITH l WHERE l.load = $load
CALL (l) {
  WITH l WHERE l.batches = $batch
  SET l.batches = $batch + 1
  WITH l
  UNWIND $rows AS row
  CREATE (s:PgsStaged)
  SET s = row.properties, s.pgs_load = $load, s.pgs_labels = row.labels
  RETURN count(*) AS written
}
RETURN l.batches AS batches
