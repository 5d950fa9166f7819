// Generations of a graph that may go: unfinished ones older than a day, and complete ones
// beyond the newest `keep` that are not current and that no sweep refers to.
// params: graph, keep
// returns: ids
// mode: read
MATCH (g:PgsGraph {name: $graph})<-[:PGS_OF]-(c:PgsGeneration)
WITH g, c ORDER BY c.created_at DESC
WITH g, collect(c) AS all
WITH g, all, [c IN all WHERE c.status = 'complete'] AS complete
WITH g,
     [c IN all WHERE c.status <> 'complete' AND c.created_at < datetime() - duration('P1D')]
     + complete[$keep..] AS candidates
UNWIND candidates AS c
WITH g, c
WHERE NOT (g)-[:PGS_CURRENT]->(c)
  AND NOT EXISTS { (c)<-[:PGS_PART_OF]-(:PgsPartition)<-[:PGS_READ]-(:PgsSweep) }
RETURN collect(c.id) AS ids
