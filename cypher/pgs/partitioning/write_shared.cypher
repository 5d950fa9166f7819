// Make some partitions of one generation part of another as well.
// params: source: str, generation: str, partitions: list[int]
// returns: shared: int
// mode: write
MATCH (c:PgsGeneration {id: $generation})
SET c.checked_at = datetime()
WITH c WHERE c.status = 'building'
MATCH (:PgsGeneration {id: $source})<-[:PGS_PART_OF]-(p:PgsPartition)
WHERE p.level = 0 AND p.id IN $partitions
MERGE (p)-[:PGS_PART_OF]->(c)
RETURN count(p) AS shared
