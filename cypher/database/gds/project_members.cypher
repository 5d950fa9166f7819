// Project the embeddings of a generation's members, one in-memory label per partition.
// An empty list of partitions stands for all.
// Vectors of another length, or with a component that is not a finite number, are left out.
// A finite positive weight multiplies the vector; above 1e12 it counts as 1e12.
// params: name: str, generation: str, partitions: list[int], embedding: str, dimensions: int,
//   weight: str, concurrency: int, scope: dict, view: str?
// returns: graph: dict
// mode: read
// sees: nodes
MATCH (:PgsGeneration {id: $generation})<-[:PGS_PART_OF]-(p:PgsPartition)<-[:PGS_IN]-(n)
WHERE (size($partitions) = 0 OR p.id IN $partitions)
  AND all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
WITH p, n, n[$embedding] AS vector
WHERE vector IS :: LIST<FLOAT NOT NULL> NOT NULL | LIST<INTEGER NOT NULL> NOT NULL
  AND size(vector) = $dimensions
  AND all(x IN vector WHERE abs(toFloat(x)) < 1.0e30)
WITH p, n, vector, CASE WHEN n[$weight] IS :: INTEGER NOT NULL | FLOAT NOT NULL THEN toFloat(n[$weight]) ELSE 1.0 END AS raw
WITH p, n, vector,
     CASE
       WHEN NOT raw > 0.0 OR isNaN(raw - raw) THEN 1.0  // infinity minus infinity is NaN
       WHEN raw > 1.0e12 THEN 1.0e12
       ELSE raw
     END AS factor
RETURN gds.graph.project(
  $name, n, null,
  {
    sourceNodeLabels: ['P' + toString(p.id)], targetNodeLabels: null,
    sourceNodeProperties: {vector: [x IN vector | toFloat(x) * factor]}, targetNodeProperties: null
  },
  {readConcurrency: $concurrency}
) AS graph
