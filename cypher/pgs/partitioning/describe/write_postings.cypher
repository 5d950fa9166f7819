// Write cells of a segment of the text index. No reader sees them until partitions have the
// segment. No row when the generation was abandoned.
// params: generation: str, graph: graph, segment: str, cells: list[dict]
// returns: written: int
// mode: write
MATCH (c:PgsGeneration {id: $generation})
SET c.checked_at = datetime()
WITH c WHERE c.status <> 'abandoned'
MERGE (s:PgsSegment {id: $segment})
  ON CREATE SET s.graph = $graph, s.generation = $generation
WITH s
UNWIND $cells AS cell
MERGE (k:PgsPostings {uid: cell.uid})
SET k.data = cell.data
MERGE (k)-[:PGS_PART_OF]->(s)
RETURN count(*) AS written
