// The nodes of a view that hold some words, best first, by full-text indexes. `words` are plain
// words: every sign of the query language is taken out of them before.
// params: indexes: list[str], words: str, labels: list[str], candidates: int, k: int, scope:
//   dict, view: str?
// returns: ids: list[str], scores: list[float]
// mode: read
// sees: nodes
UNWIND $indexes AS index
CALL db.index.fulltext.queryNodes(index, $words, {limit: $candidates}) YIELD node, score
WITH node, max(score) AS score
WHERE CASE size($labels)
        WHEN 0 THEN none(label IN labels(node) WHERE label STARTS WITH 'Pgs')
        ELSE any(label IN labels(node) WHERE label IN $labels)
      END
  AND all(k IN keys($scope) WHERE node[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (node)-[:PGS_SEEN]->(:PgsView {id: $view}) })
WITH elementId(node) AS element_id, score
ORDER BY score DESC, element_id LIMIT $k
RETURN collect(element_id) AS ids, collect(score) AS scores
