// Titles of the nodes in neighboring partitions that relationships of some partitions lead to.
// params: generation: str, partitions: list[int]
// returns: partition: int, neighbor: int, titles: list[str]
// mode: read
MATCH (:PgsGeneration {id: $generation})<-[:PGS_PART_OF]-(p:PgsPartition)
WHERE p.level = 0 AND p.id IN $partitions
MATCH (p)-[l:PGS_ADJACENT {generation: $generation}]->(q:PgsPartition)
WHERE l.titles IS NOT NULL
RETURN p.id AS partition, q.id AS neighbor, l.titles AS titles
