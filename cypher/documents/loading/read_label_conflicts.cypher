// Whether a label is in use by nodes that were not loaded under this graph's name.
// params: graph: graph, label: str, scope: dict, view: str?
// returns: conflict: bool
// mode: read
// sees: nodes
RETURN EXISTS {
  MATCH (n:$($label))
  WHERE (NOT n:LoadedNode OR n.graph <> $graph) AND all(k IN keys($scope) WHERE n[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
} AS conflict
