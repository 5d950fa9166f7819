// Partitions of a generation by id, with adjacent partitions and the unit above. A row holds 200 of
// them, because receiving a row takes longer than receiving a partition in it. Centroids are long,
// so they are read only on request.
// params: generation: str, centroids: bool
// returns: partitions: list[dict]
// mode: read
MATCH (c:PgsGeneration {id: $generation})<-[:PGS_PART_OF]-(p:PgsPartition)
WHERE p.level = 0
WITH p.id AS id,
     {
       partition: p {.*, words: null, centroid: CASE WHEN $centroids THEN p.centroid END},
       adjacent: [(p)-[l:PGS_ADJACENT {generation: $generation}]->(q:PgsPartition)
                  | [q.id, l.edges, l.weight]],
       parent: [(p)-[:PGS_PARENT]->(q:PgsPartition) WHERE (q)-[:PGS_PART_OF]->(c) | q.id][0]
     } AS row
ORDER BY id
WITH collect(row) AS whole
UNWIND range(0, size(whole) - 1, 200) AS first
RETURN whole[first..first + 200] AS partitions
ORDER BY first
