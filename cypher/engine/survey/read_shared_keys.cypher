// Nodes with a key, among the first `scan` of them, and how many share it with another node of the
// same labels; a few examples.
// params: labels: list[str], key: list[dict], scan: int, scope: dict, view: str?
// returns: keyed: int, shared: int, examples: list[any]
// mode: read
// sees: nodes
CALL () {
  WITH $labels AS labels WHERE size(labels) > 0
  MATCH (n:$any(labels)) WHERE all(k IN keys($scope) WHERE n[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  WITH n, head([own IN $key WHERE own.label IN labels(n) + '' AND n[own.property] <> ''
                | n[own.property]]) AS key
  WHERE key IS NOT NULL RETURN n, key LIMIT $scan
  UNION ALL
  WITH $labels AS labels WHERE size(labels) = 0
  MATCH (n)
  WHERE none(label IN labels(n) WHERE label STARTS WITH 'Pgs')
    AND all(k IN keys($scope) WHERE n[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  WITH n, head([own IN $key WHERE own.label IN labels(n) + '' AND n[own.property] <> ''
                | n[own.property]]) AS key
  WHERE key IS NOT NULL RETURN n, key LIMIT $scan
}
WITH labels(n) AS labels, key, count(*) AS nodes
WITH sum(nodes) AS keyed, sum(CASE WHEN nodes > 1 THEN nodes ELSE 0 END) AS shared,
     collect(CASE WHEN nodes > 1 THEN key END)[0..3] AS examples
RETURN keyed, shared, examples
