// Attach nodes to their partitions; `rank` is the place in the partition, heaviest first.
// The lists are parallel; internal ids hold within the job.
// params: nodes, partitions, ranks
// returns: written
// mode: write
UNWIND range(0, size($nodes) - 1) AS i
MATCH (p:PgsPartition {uid: $partitions[i]})
MATCH (n) WHERE id(n) = $nodes[i]
MERGE (n)-[m:PGS_IN]->(p)
SET m.rank = $ranks[i]
RETURN count(*) AS written
