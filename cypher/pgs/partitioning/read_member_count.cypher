// How many nodes are attached to the partitions of a generation.
// params: generation: str
// returns: members: int
// mode: read
// sees: links
MATCH (:PgsGeneration {id: $generation})<-[:PGS_PART_OF]-(p:PgsPartition) WHERE p.level = 0
RETURN sum(COUNT { (p)<-[:PGS_IN]-() }) AS members
