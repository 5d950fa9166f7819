// The members of some partitions whose embeddings are nearest to a vector, best first. Embeddings
// of another length, of zeros, or of anything but numbers, do not count.
// params: partitions: list[str], embedding: str, vector: list[float], k: int, scope: dict, view:
//   str?
// returns: partition: int, rank: int, score: float
// mode: read
// sees: nodes
UNWIND $partitions AS uid
MATCH (p:PgsPartition {uid: uid})<-[m:PGS_IN]-(n)
WHERE all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
WITH p, m, n[$embedding] AS own
WHERE own IS :: LIST<FLOAT NOT NULL> NOT NULL | LIST<INTEGER NOT NULL> NOT NULL
  AND size(own) = size($vector) AND any(x IN own WHERE x <> 0)
WITH p.id AS partition, m.rank AS rank, 2 * vector.similarity.cosine(own, $vector) - 1 AS score
WHERE score > 0
RETURN partition, rank, score ORDER BY score DESC, partition, rank LIMIT $k
