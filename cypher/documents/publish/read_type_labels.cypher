// The types of a graph's entities that are labels, and the mappings of all stored graphs. Before
// the first ones are kept, the types are those that its entities have as labels.
// params: graph: graph
// returns: used: list[str], mappings: list[str]
// mode: read
// sees: documents
OPTIONAL MATCH (w:PgsIngest {graph: $graph})
WITH w.type_labels AS kept
CALL (kept) {
  WITH kept WHERE kept IS NULL
  MATCH (e:LoadedNode {graph: $graph})
  WHERE e:`__Entity__` AND e.type IN labels(e)
  RETURN collect(DISTINCT e.type) AS found
}
CALL () {
  MATCH (g:PgsGraph)
  WHERE g.mapping IS NOT NULL
  RETURN collect(g.mapping) AS mappings
}
RETURN coalesce(kept, found) AS used, mappings
