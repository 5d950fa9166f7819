// Project relationships that are parameters: undirected, with their weights. All nodes come before
// the relationships, so that they stand in the order of `ids`.
// params: name: str, ids: list[int], sources: list[int], targets: list[int], weights: list[float],
//   concurrency: int
// returns: graph: dict
// mode: read
CALL () {
  UNWIND $ids AS id
  RETURN id, null AS other, 1.0 AS weight
  UNION ALL
  UNWIND range(0, size($sources) - 1) AS i
  RETURN $sources[i] AS id, $targets[i] AS other, $weights[i] AS weight
}
RETURN gds.graph.project(
  $name, id, other,
  {relationshipProperties: {weight: weight}},
  {undirectedRelationshipTypes: ['*'], readConcurrency: $concurrency}
) AS graph
