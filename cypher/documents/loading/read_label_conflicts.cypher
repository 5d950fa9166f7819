// Whether a label is in use by nodes that were not loaded under this graph's name.
// params: graph: graph, label: str, scope: dict
// returns: conflict: bool
// mode: read
// sees: nodes
RETURN EXISTS {
  MATCH (n:$($label))
  WHERE (NOT n:LoadedNode OR n.graph <> $graph) AND all(k IN keys($scope) WHERE n[k] = $scope[k])
} AS conflict
