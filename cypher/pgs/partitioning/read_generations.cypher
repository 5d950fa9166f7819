// All generations of a graph, whatever their status.
// params: graph: str
// returns: ids: list[str]
// mode: read
// language: 5, 25
MATCH (:PgsGraph {name: $graph})<-[:PGS_OF]-(c:PgsGeneration)
RETURN collect(c.id) AS ids
