// Relationships among the members of one partition, given by the ranks of their ends.
// params: partition: str, types: list[str], scope: dict, view: str?, valid: list[dict]
// returns: sources: list[int], targets: list[int], types: list[str]
// mode: read
// sees: nodes
MATCH (p:PgsPartition {uid: $partition})<-[a:PGS_IN]-(n)-[r]->(m)-[b:PGS_IN]->(p)
WHERE n <> m AND all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  AND all(k IN keys($scope) WHERE m[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (m)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(r[v.name]) < v.high, r[v.name] IS NULL))
  AND CASE size($types)
        WHEN 0 THEN NOT type(r) STARTS WITH 'PGS_'
        ELSE type(r) IN $types
      END
WITH a.rank AS source, b.rank AS target, type(r) AS type
ORDER BY source, target, type
RETURN collect(source) AS sources, collect(target) AS targets, collect(type) AS types
