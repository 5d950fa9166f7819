// Partitions of a generation with their adjacent ones, by id.
// params: generation
// returns: partition, adjacent
// mode: read
MATCH (:PgsGeneration {id: $generation})<-[:PGS_PART_OF]-(p:PgsPartition)
RETURN p {.*} AS partition,
       [(p)-[l:PGS_ADJACENT]->(q:PgsPartition) | [q.id, l.edges, l.weight]] AS adjacent
ORDER BY p.id
