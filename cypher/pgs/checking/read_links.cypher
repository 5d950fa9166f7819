// Relationships that connect the given nodes of a generation across partitions, each pair once,
// the lower partition first. `cited` lists ranks by partition id. Relationships are followed from
// nodes with at most `degree` of them; two nodes that both have more are not compared.
// params: generation: str, cited: dict, types: list[str], degree: int, most: int, scope: dict,
//   view: str?, valid: list[dict]
// returns: partition: int, rank: int, other_partition: int, other_rank: int
// mode: read
// sees: nodes
MATCH (g:PgsGeneration {id: $generation})<-[:PGS_PART_OF]-(p:PgsPartition)
WHERE p.level = 0
WITH g, p, $cited[toString(p.id)] AS ranks
WHERE ranks IS NOT NULL
MATCH (p)<-[m:PGS_IN]-(n)
WHERE m.rank IN ranks AND all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  AND CASE
        WHEN size(keys($scope)) = 0 AND $view IS NULL THEN COUNT { (n)--() }
          - COUNT { (n)-[:PGS_ABOUT|PGS_SOURCE|PGS_TARGET|PGS_ISOMORPHIC|PGS_SHOWED|PGS_SEEN]-() }
        ELSE COUNT {
          (n)-[e]-(x)
          WHERE all(k IN keys($scope) WHERE x[k] = $scope[k])
            AND ($view IS NULL OR EXISTS { (x)-[:PGS_SEEN]->(:PgsView {id: $view}) })
            AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(e[v.name]) < v.high, e[v.name] IS NULL))
        }
      END <= $degree
MATCH (n)-[r]-(o)
WHERE all(k IN keys($scope) WHERE o[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (o)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(r[v.name]) < v.high, r[v.name] IS NULL))
  AND CASE size($types)
        WHEN 0 THEN NOT type(r) STARTS WITH 'PGS_'
        ELSE type(r) IN $types
      END
WITH g, p.id AS partition, m.rank AS rank, o
MATCH (o)-[b:PGS_IN]->(q:PgsPartition)
WHERE q.level = 0 AND q.id <> partition AND b.rank IN coalesce($cited[toString(q.id)], [])
  AND EXISTS { (q)-[:PGS_PART_OF]->(g) }
WITH CASE WHEN partition < q.id THEN [partition, rank, q.id, b.rank]
          ELSE [q.id, b.rank, partition, rank] END AS pair
RETURN DISTINCT pair[0] AS partition, pair[1] AS rank,
       pair[2] AS other_partition, pair[3] AS other_rank
ORDER BY partition, rank, other_partition, other_rank
LIMIT $most
