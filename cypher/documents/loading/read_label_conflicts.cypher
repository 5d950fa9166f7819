// Whether a label is in use by nodes that were not loaded under this graph's name.
// params: graph: str, label: str
// returns: conflict: bool
// mode: read
RETURN EXISTS {
  MATCH (n:$($label))
  WHERE NOT n:LoadedNode OR n.graph <> $graph
} AS conflict
