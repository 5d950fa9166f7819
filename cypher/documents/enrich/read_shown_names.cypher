// Some entities as a model is shown them: their name, description, and a few facts.
// params: graph: graph, ids: list[str]
// returns: id: str, name: str, said: list[str]
// mode: read
// sees: documents
UNWIND $ids AS id
MATCH (e:LoadedNode {graph: $graph, id: id})
CALL (e) {
  MATCH (e)-[r:RELATES]-(:`__Entity__`)
  WITH r.fact AS fact ORDER BY r.weight DESC, fact LIMIT 3
  RETURN collect(fact) AS facts
}
RETURN id, e.name AS name,
       CASE WHEN e.description IS NULL THEN facts ELSE [e.description] + facts END AS said
