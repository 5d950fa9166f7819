// Whether a view's relationships have a property: 1 or 0.
// params: types: list[str], name: str, scope: dict
// returns: count: int
// mode: read
// sees: nodes
CALL () {
  WITH $types AS types WHERE size(types) > 0
  MATCH (n)-[r:$any(types)]->(m)
  WHERE r[$name] IS NOT NULL AND all(k IN keys($scope) WHERE n[k] = $scope[k])
    AND all(k IN keys($scope) WHERE m[k] = $scope[k])
  RETURN r LIMIT 1
  UNION ALL
  WITH $types AS types WHERE size(types) = 0
  MATCH (n)-[r]->(m)
  WHERE r[$name] IS NOT NULL AND NOT type(r) STARTS WITH 'PGS_'
    AND all(k IN keys($scope) WHERE n[k] = $scope[k])
    AND all(k IN keys($scope) WHERE m[k] = $scope[k])
  RETURN r LIMIT 1
}
RETURN count(r) AS count
