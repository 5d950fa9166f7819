// The members of some partitions among the nodes that a vector index calls nearest, best first.
// The index holds rounded vectors; scores are exact.
// params: index: str, candidates: int, partitions: list[str], embedding: str,
//   vector: list[float], k: int, scope: dict, view: str?
// returns: partition: int, rank: int, score: float
// mode: read
// sees: nodes
CALL db.index.vector.queryNodes($index, $candidates, $vector) YIELD node
MATCH (node)-[m:PGS_IN]->(p:PgsPartition) WHERE p.uid IN $partitions
  AND all(k IN keys($scope) WHERE node[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (node)-[:PGS_SEEN]->(:PgsView {id: $view}) })
WITH p.id AS partition, m.rank AS rank,
     2 * vector.similarity.cosine(node[$embedding], $vector) - 1 AS score
WHERE score > 0
RETURN partition, rank, score ORDER BY score DESC, partition, rank LIMIT $k
