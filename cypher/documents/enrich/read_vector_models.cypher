// The model that made the vectors of a graph, with their length; first another one than `other`, of
// which few or none are left once it is replaced. No row without a vector.
// params: graph: graph, other: str
// returns: model: str, dimensions: int
// mode: read
// sees: documents
CALL () {
  MATCH (n:LoadedNode {graph: $graph})
  WHERE n.embedded_by < $other AND n.embedding IS NOT NULL
  RETURN n LIMIT 1
  UNION ALL
  MATCH (n:LoadedNode {graph: $graph})
  WHERE n.embedded_by > $other AND n.embedding IS NOT NULL
  RETURN n LIMIT 1
  UNION ALL
  MATCH (n:LoadedNode {graph: $graph, embedded_by: $other})
  WHERE n.embedding IS NOT NULL
  RETURN n LIMIT 1
}
RETURN n.embedded_by AS model, size(n.embedding) AS dimensions LIMIT 1
