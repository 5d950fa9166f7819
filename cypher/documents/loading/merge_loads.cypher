// Begin a load. An earlier load of the same graph that still runs loses its right to write.
// params: graph: graph, load: str, label: str
// returns: load: str
// mode: write
MERGE (l:PgsLoad {graph: $graph})
SET l = {graph: $graph, load: $load, label: $label, batches: 0,
         started_at: datetime(), moved_at: datetime()}
RETURN l.load AS load
