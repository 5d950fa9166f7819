// Make one making of the analogies of a graph the current one. No row if the graph was removed.
// params: graph: graph, making: str, figures: dict
// returns: making: str
// mode: write
MATCH (:PgsGraph {name: $graph})
MERGE (a:PgsAnalogies {graph: $graph})
SET a += $figures, a.making = $making, a.created_at = datetime()
RETURN a.making AS making
