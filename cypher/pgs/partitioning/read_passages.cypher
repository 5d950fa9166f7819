// Internal ids of a view's passages. The ids hold within one job.
// params: labels: list[str], scope: dict, view: str?
// returns: ids: list[int]
// mode: read
// sees: nodes
MATCH (n:$any($labels)) WHERE all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
RETURN collect(id(n)) AS ids
