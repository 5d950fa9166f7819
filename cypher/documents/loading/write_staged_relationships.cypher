// Write one batch of relationships between staged nodes; safe to repeat like the nodes.
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
  MATCH (a:PgsStaged {pgs_load: $load, id: row.source})
  MATCH (b:PgsStaged {pgs_load: $load, id: row.target})
  CREATE (a)-[r:$(row.type)]->(b)
  SET r.weight = row.weight
  RETURN count(*) AS written
}
RETURN l.batches AS batches
