// The labels of some nodes and the types of their relationships, without those of this package. If
// `types` is empty, all types count.
// params: nodes: list[str], types: list[str], scope: dict
// returns: element_id: str, names: list[str]
// mode: read
// sees: nodes
UNWIND $nodes AS wanted
MATCH (n) WHERE elementId(n) = wanted AND all(k IN keys($scope) WHERE n[k] = $scope[k])
RETURN elementId(n) AS element_id,
       [label IN labels(n) WHERE NOT label STARTS WITH 'Pgs'] + COLLECT {
         MATCH (n)-[r]-(o)
         WHERE all(k IN keys($scope) WHERE o[k] = $scope[k])
           AND CASE size($types) WHEN 0 THEN NOT type(r) STARTS WITH 'PGS_' ELSE type(r) IN $types END
         RETURN DISTINCT type(r)
       } AS names
