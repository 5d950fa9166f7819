// Whether a view's nodes have a property: 1 or 0.
// params: labels: list[str], name: str, scope: dict, view: str?
// returns: count: int
// mode: read
// sees: nodes
CALL () {
  WITH $labels AS labels WHERE size(labels) > 0
  MATCH (n:$any(labels)) WHERE n[$name] IS NOT NULL AND all(k IN keys($scope) WHERE n[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  RETURN n LIMIT 1
  UNION ALL
  WITH $labels AS labels WHERE size(labels) = 0
  MATCH (n)
  WHERE n[$name] IS NOT NULL AND none(label IN labels(n) WHERE label STARTS WITH 'Pgs')
    AND all(k IN keys($scope) WHERE n[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  RETURN n LIMIT 1
}
RETURN count(n) AS count
