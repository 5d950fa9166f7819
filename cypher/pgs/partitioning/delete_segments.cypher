// Delete the segments of a graph's text index that no partition has any more, with their cells.
// Those that a generation is still writing have no partition yet, and stay.
// params: graph: graph
// returns: deleted: int
// mode: write
MATCH (s:PgsSegment {graph: $graph})
WHERE NOT (s)<-[:PGS_INDEXED_IN]-()
  AND NOT EXISTS { MATCH (c:PgsGeneration {id: s.generation}) WHERE c.status = 'building' }
OPTIONAL MATCH (s)<-[:PGS_PART_OF]-(k:PgsPostings)
WITH s, collect(k) AS cells
FOREACH (k IN cells | DETACH DELETE k)
DETACH DELETE s
RETURN count(*) AS deleted
