// The nodes of a view nearest to a vector, best first, with their cosine: every embedding is
// compared. Embeddings of another length, of zeros, or of anything but numbers, do not count.
// params: vector: list[float], embedding: str, labels: list[str], k: int, scope: dict, view: str?
// returns: ids: list[str], scores: list[float]
// mode: read
// sees: nodes
CALL () {
  WITH $labels AS labels WHERE size(labels) > 0
  MATCH (n:$any(labels)) WHERE all(k IN keys($scope) WHERE n[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  RETURN n
  UNION ALL
  WITH $labels AS labels WHERE size(labels) = 0
  MATCH (n)
  WHERE none(label IN labels(n) WHERE label STARTS WITH 'Pgs') AND all(k IN keys($scope) WHERE n[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  RETURN n
}
WITH DISTINCT n, n[$embedding] AS own
WHERE own IS :: LIST<FLOAT NOT NULL> NOT NULL | LIST<INTEGER NOT NULL> NOT NULL
  AND size(own) = size($vector) AND any(x IN own WHERE x <> 0)
WITH elementId(n) AS element_id, 2 * vector.similarity.cosine(own, $vector) - 1 AS score
ORDER BY score DESC, element_id LIMIT $k
RETURN collect(element_id) AS ids, collect(score) AS scores
