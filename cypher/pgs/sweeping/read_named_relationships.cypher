// Relationships among the members of one partition, with their names. A name is cut to its first
// `length` characters; it is empty if it is missing.
// params: partition: str, types: list[str], name: str, length: int, scope: dict
// returns: sources: list[int], targets: list[int], types: list[str], names: list[str]
// mode: read
// sees: nodes
MATCH (p:PgsPartition {uid: $partition})<-[a:PGS_IN]-(n)-[r]->(m)-[b:PGS_IN]->(p)
WHERE n <> m AND all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND all(k IN keys($scope) WHERE m[k] = $scope[k])
  AND CASE size($types)
        WHEN 0 THEN NOT type(r) STARTS WITH 'PGS_'
        ELSE type(r) IN $types
      END
WITH a.rank AS source, b.rank AS target, type(r) AS type,
     coalesce(left(toStringOrNull(r[$name]), $length), '') AS name
ORDER BY source, target, type, name
RETURN collect(source) AS sources, collect(target) AS targets, collect(type) AS types,
       collect(name) AS names
