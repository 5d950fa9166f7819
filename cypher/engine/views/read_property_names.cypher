// The names of the properties that a sample of nodes of some labels has.
// params: labels: list[str], most: int, scope: dict, view: str?
// returns: names: list[str]
// mode: read
// sees: nodes
CALL () {
  WITH $labels AS labels WHERE size(labels) > 0
  MATCH (n:$any(labels)) WHERE all(k IN keys($scope) WHERE n[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  RETURN n LIMIT $most
  UNION ALL
  WITH $labels AS labels WHERE size(labels) = 0
  MATCH (n)
  WHERE none(label IN labels(n) WHERE label STARTS WITH 'Pgs') AND all(k IN keys($scope) WHERE n[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  RETURN n LIMIT $most
}
UNWIND keys(n) AS name
RETURN collect(DISTINCT name) AS names
