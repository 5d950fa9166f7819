// Loads that never finished: an earlier one of this graph, or any that has not moved for an hour.
// params: graph: graph
// returns: load: str
// mode: read
MATCH (l:PgsLoad)
WHERE l.finished_at IS NULL
  AND (l.graph = $graph OR l.moved_at < datetime() - duration({hours: 1}))
RETURN l.load AS load
