// Delete generations and the partitions that no other one shares, whose members are detached.
// params: generations
// returns:
// mode: write
MATCH (c:PgsGeneration) WHERE c.id IN $generations
OPTIONAL MATCH (c)<-[:PGS_PART_OF]-(p:PgsPartition)
WHERE NOT EXISTS { (p)-[:PGS_PART_OF]->(o:PgsGeneration) WHERE NOT o.id IN $generations }
DETACH DELETE c, p
