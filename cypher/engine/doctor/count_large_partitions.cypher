// Count the partitions of a generation, and those with several nodes and more than `tokens` of text.
// params: generation: str, tokens: int
// returns: partitions: int, large: int
// mode: read
MATCH (:PgsGeneration {id: $generation})<-[:PGS_PART_OF]-(p:PgsPartition)
WHERE p.level = 0
RETURN count(p) AS partitions, count(CASE WHEN p.size > 1 AND p.tokens > $tokens THEN 1 END) AS large
