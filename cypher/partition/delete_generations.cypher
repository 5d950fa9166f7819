// Delete generations and their partitions, whose members are already detached.
// params: generations
// returns:
// mode: write
MATCH (c:PgsGeneration) WHERE c.id IN $generations
OPTIONAL MATCH (c)<-[:PGS_PART_OF]-(p:PgsPartition)
DETACH DELETE c, p
