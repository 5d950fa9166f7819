// Units of a generation's hierarchy above its partitions, by level and id.
// params: generation: str
// returns: unit: dict, parent: int?
// mode: read
MATCH (c:PgsGeneration {id: $generation})<-[:PGS_PART_OF]-(p:PgsPartition)
WHERE p.level > 0
RETURN p {.*} AS unit,
       [(p)-[:PGS_PARENT]->(q:PgsPartition) WHERE (q)-[:PGS_PART_OF]->(c) | q.id][0] AS parent
ORDER BY p.level, p.id
