// Nodes of a view by those of some labels, and of some types of relationships, that they have: how
// many have the same ones, and `most` of them. Nodes without any are counted.
// params: chosen: list[str], labels: list[str], types: list[str], most: int, scope: dict, view:
//   str?, valid: list[dict]
// returns: names: list[str], count: int, nodes: list[str]
// mode: read
// sees: nodes
CALL () {
  WITH $chosen AS view WHERE size(view) > 0
  MATCH (n:$any(view)) WHERE all(k IN keys($scope) WHERE n[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  RETURN n
  UNION ALL
  WITH $chosen AS view WHERE size(view) = 0
  MATCH (n)
  WHERE none(label IN labels(n) WHERE label STARTS WITH 'Pgs') AND all(k IN keys($scope) WHERE n[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  RETURN n
}
WITH DISTINCT elementId(n) AS element_id, [label IN labels(n) WHERE label IN $labels] +
     CASE size($types) WHEN 0 THEN [] ELSE COLLECT {
       MATCH (n)-[r]-(o) WHERE type(r) IN $types AND all(k IN keys($scope) WHERE o[k] = $scope[k])
         AND ($view IS NULL OR EXISTS { (o)-[:PGS_SEEN]->(:PgsView {id: $view}) })
         AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(r[v.name]) < v.high, r[v.name] IS NULL))
       RETURN DISTINCT type(r) AS type ORDER BY type
     } END AS names
ORDER BY element_id
WITH names, count(*) AS count, collect(element_id) AS nodes
RETURN names, count, CASE size(names) WHEN 0 THEN [] ELSE nodes[..$most] END AS nodes
