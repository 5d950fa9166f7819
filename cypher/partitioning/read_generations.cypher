// All generations of a graph, whatever their status.
// params: graph
// returns: ids
// mode: read
MATCH (:PgsGraph {name: $graph})<-[:PGS_OF]-(c:PgsGeneration)
RETURN collect(c.id) AS ids
