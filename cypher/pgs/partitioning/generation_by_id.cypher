// One complete generation and its graph, no row without one.
// params: generation: str
// returns: graph: graph, generation: dict
// mode: read
MATCH (g:PgsGraph)<-[:PGS_OF]-(c:PgsGeneration {id: $generation, status: 'complete'})
RETURN g.name AS graph,
       c {.*, created_at: toString(c.created_at), sketch: null, place: null} AS generation
