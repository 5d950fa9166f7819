// The labels of some nodes and the types of their relationships, without those of this package. If
// `types` is empty, all types count.
// params: nodes: list[str], types: list[str], scope: dict, view: str?, valid: list[dict]
// returns: element_id: str, names: list[str]
// mode: read
// sees: nodes
UNWIND $nodes AS wanted
MATCH (n) WHERE elementId(n) = wanted AND all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
RETURN elementId(n) AS element_id,
       [label IN labels(n) WHERE NOT label STARTS WITH 'Pgs'] + COLLECT {
         MATCH (n)-[r]-(o)
         WHERE all(k IN keys($scope) WHERE o[k] = $scope[k])
           AND ($view IS NULL OR EXISTS { (o)-[:PGS_SEEN]->(:PgsView {id: $view}) })
           AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(r[v.name]) < v.high, r[v.name] IS NULL))
           AND CASE size($types) WHEN 0 THEN NOT type(r) STARTS WITH 'PGS_' ELSE type(r) IN $types END
         RETURN DISTINCT type(r)
       } AS names
