// Nodes of a view that are analogies of some nodes, with the strength of the best: the score of the
// node times the cosine of the skeletons. `made` tells whether the graph has analogies at all.
// params: graph: graph, entries: list[str], scores: list[float], labels: list[str], title:
//   list[dict], k: int, scope: dict, view: str?
// returns: made: bool, analogies: list[dict]
// mode: read
// sees: nodes
OPTIONAL MATCH (a:PgsAnalogies {graph: $graph})
CALL (a) {
  UNWIND range(0, size($entries) - 1) AS i
  MATCH (n) WHERE elementId(n) = $entries[i] AND all(k IN keys($scope) WHERE n[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  MATCH (n)-[r:PGS_ISOMORPHIC {making: a.making}]-(m)
  WHERE CASE size($labels)
          WHEN 0 THEN none(label IN labels(m) WHERE label STARTS WITH 'Pgs')
          ELSE any(label IN labels(m) WHERE label IN $labels)
        END
    AND all(k IN keys($scope) WHERE m[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (m)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  WITH m, n, r, $scores[i] * r.skeleton AS score ORDER BY score DESC, elementId(n)
  WITH m, collect({
    entry: head([own IN $title WHERE own.label IN labels(n) + '' AND n[own.property] <> ''
      | n[own.property]]),
    score: score, delta: r.delta})[0] AS best
  ORDER BY best.score DESC, elementId(m) LIMIT $k
  RETURN collect({
    element_id: elementId(m), score: best.score, delta: best.delta, entry: best.entry,
    title: head([own IN $title WHERE own.label IN labels(m) + '' AND m[own.property] <> ''
      | m[own.property]])
  }) AS analogies
}
RETURN a IS NOT NULL AS made, analogies
