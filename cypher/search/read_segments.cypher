// The segments of a generation's text index. `partitions` holds the id of each partition, the
// number of its first member in the segment, and its number of members.
// params: generation: str
// returns: id: str, size: int, bits: int, partitions: list[list[int]]
// mode: read
MATCH (:PgsGeneration {id: $generation})<-[:PGS_PART_OF]-(p:PgsPartition)
WHERE p.level = 0
MATCH (p)-[i:PGS_INDEXED_IN]->(s:PgsSegment)
WITH s, p, i ORDER BY i.first
RETURN s.id AS id, s.size AS size, s.bits AS bits, collect([p.id, i.first, p.size]) AS partitions
ORDER BY id
