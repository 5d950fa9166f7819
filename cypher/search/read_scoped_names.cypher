// The labels of a view's nodes, and the types of relationships between them, within a scope. The
// names that the database knows would show what other scopes contain.
// params: chosen: list[str], scope: dict, view: str?, valid: list[dict]
// returns: labels: list[str], types: list[str]
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
WITH n, COLLECT {
  MATCH (n)-[r]->(m)
  WHERE NOT type(r) STARTS WITH 'PGS_' AND all(k IN keys($scope) WHERE m[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (m)-[:PGS_SEEN]->(:PgsView {id: $view}) })
    AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(r[v.name]) < v.high, r[v.name] IS NULL))
  RETURN DISTINCT type(r)
} AS types
WITH collect(DISTINCT labels(n)) AS labels, collect(DISTINCT types) AS types
RETURN COLLECT {
         UNWIND labels AS some UNWIND some AS label
         WITH DISTINCT label WHERE NOT label STARTS WITH 'Pgs' RETURN label ORDER BY label
       } AS labels,
       COLLECT { UNWIND types AS some UNWIND some AS type RETURN DISTINCT type ORDER BY type } AS types
