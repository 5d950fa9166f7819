// Stored embeddings of some nodes.
// params: nodes: list[str], embedding: str, dimensions: int, scope: dict, view: str?
// returns: element_id: str, vector: list[float]
// mode: read
// sees: nodes
UNWIND $nodes AS wanted
MATCH (n) WHERE elementId(n) = wanted AND all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
WITH n, n[$embedding] AS vector
WHERE vector IS :: LIST<FLOAT NOT NULL> NOT NULL | LIST<INTEGER NOT NULL> NOT NULL AND size(vector) = $dimensions
RETURN elementId(n) AS element_id, toFloatList(vector) AS vector
