// Number of nodes of a view: the nodes with one of its labels, or without labels all nodes except
// those of this package.
// params: labels: list[str], scope: dict, view: str?
// returns: nodes: int
// mode: read
// sees: nodes
CALL () {
  WITH $labels AS labels WHERE size(labels) > 0
  MATCH (n:$any(labels)) WHERE all(k IN keys($scope) WHERE n[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  RETURN n
  UNION ALL
  WITH $labels AS labels WHERE size(labels) = 0
  MATCH (n)
  WHERE none(label IN labels(n) WHERE label STARTS WITH 'Pgs') AND all(k IN keys($scope) WHERE n[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  RETURN n
}
RETURN count(n) AS nodes
