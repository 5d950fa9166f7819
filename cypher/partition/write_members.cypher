// Attach nodes to their partitions. `rank` is the place in the partition, heaviest first;
// `hash` tells later whether the text is still the one of this generation.
// The lists are parallel; internal ids hold within the job.
// params: nodes, partitions, ranks, hashes
// returns: written
// mode: write
UNWIND range(0, size($nodes) - 1) AS i
MATCH (p:PgsPartition {uid: $partitions[i]})
MATCH (n) WHERE id(n) = $nodes[i] AND none(label IN labels(n) WHERE label STARTS WITH 'Pgs')
MERGE (n)-[m:PGS_IN]->(p)
SET m.rank = $ranks[i], m.hash = $hashes[i]
RETURN count(*) AS written
