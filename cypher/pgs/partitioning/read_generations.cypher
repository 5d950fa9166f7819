// All generations of a graph, whatever their status.
// params: graph: graph
// returns: ids: list[str]
// mode: read
MATCH (:PgsGraph {name: $graph})<-[:PGS_OF]-(c:PgsGeneration)
RETURN collect(c.id) AS ids
