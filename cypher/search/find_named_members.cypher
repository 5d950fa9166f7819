// Members of partitions by those of some labels, and of some types of relationships, that they have:
// how many have the same ones, and the first `most` of them by rank. Members without any are counted.
// params: partitions: list[str], labels: list[str], types: list[str], most: int, scope: dict,
//   view: str?, valid: list[dict]
// returns: partition: int, names: list[str], count: int, ranks: list[int]
// mode: read
// sees: nodes
UNWIND $partitions AS uid
MATCH (p:PgsPartition {uid: uid})<-[m:PGS_IN]-(n)
WHERE all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
WITH p.id AS partition, m.rank AS rank, [label IN labels(n) WHERE label IN $labels] +
     CASE size($types) WHEN 0 THEN [] ELSE COLLECT {
       MATCH (n)-[r]-(o) WHERE type(r) IN $types AND all(k IN keys($scope) WHERE o[k] = $scope[k])
         AND ($view IS NULL OR EXISTS { (o)-[:PGS_SEEN]->(:PgsView {id: $view}) })
         AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(r[v.name]) < v.high, r[v.name] IS NULL))
       RETURN DISTINCT type(r) AS type ORDER BY type
     } END AS names
ORDER BY partition, rank
WITH partition, names, count(*) AS count, collect(rank) AS ranks
RETURN partition, names, count, CASE size(names) WHEN 0 THEN [] ELSE ranks[..$most] END AS ranks
