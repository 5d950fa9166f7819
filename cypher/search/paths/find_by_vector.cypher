// The nodes of a view nearest to a vector, best first, with their exact cosine: candidates by
// vector indexes, which hold rounded vectors.
// params: indexes: list[str], vector: list[float], embedding: str, labels: list[str],
//   candidates: int, k: int, scope: dict, view: str?
// returns: ids: list[str], scores: list[float]
// mode: read
// sees: nodes
UNWIND $indexes AS index
CALL db.index.vector.queryNodes(index, $candidates, $vector) YIELD node
WITH DISTINCT node
WHERE CASE size($labels)
        WHEN 0 THEN none(label IN labels(node) WHERE label STARTS WITH 'Pgs')
        ELSE any(label IN labels(node) WHERE label IN $labels)
      END
  AND all(k IN keys($scope) WHERE node[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (node)-[:PGS_SEEN]->(:PgsView {id: $view}) })
WITH elementId(node) AS element_id, 2 * vector.similarity.cosine(node[$embedding], $vector) - 1 AS score
ORDER BY score DESC, element_id LIMIT $k
RETURN collect(element_id) AS ids, collect(score) AS scores
