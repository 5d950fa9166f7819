// Whether a label is in use by nodes that were not loaded under this graph's name.
// params: graph: str, label: str
// returns: conflict: bool
// mode: read
// language: 5, 25
RETURN EXISTS {
  MATCH (n:$($label))
  WHERE NOT n:LoadedNode OR n.graph <> $graph
} AS conflict
