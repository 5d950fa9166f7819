// Whether a label is in use by nodes that were not loaded under this graph's name.
// params: graph, label
// returns: conflict
// mode: read
RETURN EXISTS {
  MATCH (n:$($label))
  WHERE NOT n:LoadedNode OR n.graph <> $graph
} AS conflict
