// The nodes of some labels that are valid, with the values of some properties, some thousands in a
// row, because many rows take longer than many nodes.
// params: labels: list[str], names: list[str], scope: dict, view: str?, valid: list[dict]
// returns: ids: list[int], values: list[list[any?]]
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
WITH n
WHERE all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(n[v.name]) < v.high, n[v.name] IS NULL))
WITH id(n) / 8192 AS block, id(n) AS id, [name IN $names | n[name]] AS own
WITH block, collect(id) AS ids, collect(own) AS values
RETURN ids, values
