// Put partitions into a segment of the text index, whose cells are complete. The members of a
// partition are numbered from `first` on, in the order of rank. A partition leaves the segment
// that it was in before. No row when the generation was abandoned, or when some of the cells are
// gone: a cleanup beside this job takes a segment without partitions for a leftover.
// params: generation: str, graph: graph, segment: str, size: int, bits: int, cells: int,
//   partitions: list[dict]
// returns: indexed: int
// mode: write
MATCH (c:PgsGeneration {id: $generation})
SET c.checked_at = datetime()
WITH c WHERE c.status <> 'abandoned'
MERGE (s:PgsSegment {id: $segment})
SET s.graph = $graph, s.size = $size, s.bits = $bits
WITH s WHERE COUNT { (s)<-[:PGS_PART_OF]-(:PgsPostings) } = $cells
UNWIND $partitions AS row
MATCH (p:PgsPartition {uid: row.uid})
OPTIONAL MATCH (p)-[former:PGS_INDEXED_IN]->(o:PgsSegment) WHERE o <> s
DELETE former
MERGE (p)-[i:PGS_INDEXED_IN]->(s)
SET i.first = row.first
RETURN count(DISTINCT p) AS indexed
