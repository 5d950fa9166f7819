// Partitions of a generation by id, with adjacent partitions and the unit above.
// Centroids are long, so they come only if asked for.
// params: generation: str, centroids: bool
// returns: partition: dict, adjacent: list[list[number]], parent: int?
// mode: read
MATCH (c:PgsGeneration {id: $generation})<-[:PGS_PART_OF]-(p:PgsPartition)
WHERE p.level = 0
RETURN p {.*, words: null, centroid: CASE WHEN $centroids THEN p.centroid END} AS partition,
       [(p)-[l:PGS_ADJACENT {generation: $generation}]->(q:PgsPartition)
        | [q.id, l.edges, l.weight]] AS adjacent,
       [(p)-[:PGS_PARENT]->(q:PgsPartition) WHERE (q)-[:PGS_PART_OF]->(c) | q.id][0] AS parent
ORDER BY p.id
