// Relationships among the members of one partition, given by the ranks of their ends.
// params: partition: str, types: list[str], scope: dict
// returns: sources: list[int], targets: list[int], types: list[str]
// mode: read
// sees: nodes
MATCH (p:PgsPartition {uid: $partition})<-[a:PGS_IN]-(n)-[r]->(m)-[b:PGS_IN]->(p)
WHERE n <> m AND all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND all(k IN keys($scope) WHERE m[k] = $scope[k])
  AND CASE size($types)
        WHEN 0 THEN NOT type(r) STARTS WITH 'PGS_'
        ELSE type(r) IN $types
      END
WITH a.rank AS source, b.rank AS target, type(r) AS type
ORDER BY source, target, type
RETURN collect(source) AS sources, collect(target) AS targets, collect(type) AS types
