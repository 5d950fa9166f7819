// The current generation of a graph, no row without one. While another becomes current, a read can
// find neither of their relationships: it takes the newest complete generation then.
// params: graph: graph
// returns: generation: dict
// mode: read
MATCH (g:PgsGraph {name: $graph})
CALL (g) {
  MATCH (g)<-[:PGS_OF]-(c:PgsGeneration {status: 'complete'})
  RETURN c ORDER BY EXISTS { (g)-[:PGS_CURRENT]->(c) } DESC, c.created_at DESC LIMIT 1
}
RETURN c {.*, created_at: toString(c.created_at), sketch: null, place: null} AS generation
