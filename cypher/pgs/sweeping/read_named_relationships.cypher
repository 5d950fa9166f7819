// Relationships among the members of one partition, with their names. A name is cut to its first
// `length` characters; it is empty if it is missing.
// params: partition: str, types: list[str], name: str, length: int, scope: dict, view: str?,
//   valid: list[dict]
// returns: sources: list[int], targets: list[int], types: list[str], names: list[str]
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
WITH a.rank AS source, b.rank AS target, type(r) AS type,
     coalesce(left(toStringOrNull(r[$name]), $length), '') AS name
ORDER BY source, target, type, name
RETURN collect(source) AS sources, collect(target) AS targets, collect(type) AS types,
       collect(name) AS names
