// Whether a view's relationships have a property: 1 or 0.
// params: types: list[str], name: str, scope: dict, view: str?, valid: list[dict]
// returns: count: int
// mode: read
// sees: nodes
CALL () {
  WITH $types AS types WHERE size(types) > 0
  MATCH (n)-[r:$any(types)]->(m)
  WHERE r[$name] IS NOT NULL AND all(k IN keys($scope) WHERE n[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
    AND all(k IN keys($scope) WHERE m[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (m)-[:PGS_SEEN]->(:PgsView {id: $view}) })
    AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(r[v.name]) < v.high, r[v.name] IS NULL))
  RETURN r LIMIT 1
  UNION ALL
  WITH $types AS types WHERE size(types) = 0
  MATCH (n)-[r]->(m)
  WHERE r[$name] IS NOT NULL AND NOT type(r) STARTS WITH 'PGS_'
    AND all(k IN keys($scope) WHERE n[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
    AND all(k IN keys($scope) WHERE m[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (m)-[:PGS_SEEN]->(:PgsView {id: $view}) })
    AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(r[v.name]) < v.high, r[v.name] IS NULL))
  RETURN r LIMIT 1
}
RETURN count(r) AS count
