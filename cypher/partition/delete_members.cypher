// Detach up to so many nodes from the partitions that only given generations have; repeated
// until none is left.
// params: generations, limit
// returns: deleted
// mode: write
MATCH (c:PgsGeneration)<-[:PGS_PART_OF]-(p:PgsPartition)
WHERE c.id IN $generations
  AND NOT EXISTS { (p)-[:PGS_PART_OF]->(o:PgsGeneration) WHERE NOT o.id IN $generations }
WITH DISTINCT p
MATCH (p)<-[m:PGS_IN]-()
WITH m LIMIT $limit
DELETE m
RETURN count(m) AS deleted
