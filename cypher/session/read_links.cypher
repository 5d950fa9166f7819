// Which of some nodes of a generation a relationship connects across partitions, each pair once,
// the lower partition first. `cited` has the ranks wanted by partition id. Relationships are
// followed from nodes that have at most `degree`: two that both have more are not compared.
// params: generation, cited, types, degree, most
// returns: partition, rank, other_partition, other_rank
// mode: read
MATCH (:PgsGeneration {id: $generation})<-[:PGS_PART_OF]-(p:PgsPartition)
WHERE p.level = 0
WITH p, $cited[toString(p.id)] AS ranks WHERE ranks IS NOT NULL
MATCH (p)<-[m:PGS_IN]-(n) WHERE m.rank IN ranks
WITH collect({node: n, partition: p.id, rank: m.rank}) AS places, collect(n) AS nodes
UNWIND places AS place
WITH nodes, place, place.node AS n
WHERE COUNT { (n)--() } <= $degree
MATCH (n)-[r]-(o)
WHERE o IN nodes
  AND CASE size($types)
        WHEN 0 THEN NOT type(r) STARTS WITH 'PGS_'
        ELSE type(r) IN $types
      END
WITH DISTINCT place, o
MATCH (o)-[m:PGS_IN]->(q:PgsPartition)-[:PGS_PART_OF]->(:PgsGeneration {id: $generation})
WHERE q.level = 0 AND q.id <> place.partition
WITH place, {partition: q.id, rank: m.rank} AS other
WITH CASE WHEN place.partition < other.partition THEN [place, other] ELSE [other, place] END AS pair
RETURN DISTINCT pair[0].partition AS partition, pair[0].rank AS rank,
       pair[1].partition AS other_partition, pair[1].rank AS other_rank
ORDER BY partition, rank, other_partition, other_rank
LIMIT $most
