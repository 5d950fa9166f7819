// The current generation of a graph, no row without one.
// params: graph: str
// returns: generation: dict
// mode: read
// language: 5, 25
MATCH (:PgsGraph {name: $graph})-[:PGS_CURRENT]->(c:PgsGeneration)
RETURN c {.*, created_at: toString(c.created_at), sketch: null, place: null} AS generation
