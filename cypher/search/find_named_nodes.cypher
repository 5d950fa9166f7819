// Some members of partitions, in the order of these, that have one of some labels or a relationship
// of one of some types.
// params: partitions: list[str], labels: list[str], types: list[str], most: int, scope: dict,
//   view: str?, valid: list[dict]
// returns: element_id: str
// mode: read
// sees: nodes
UNWIND $partitions AS uid
MATCH (:PgsPartition {uid: uid})<-[:PGS_IN]-(n)
WHERE all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  AND (any(label IN labels(n) WHERE label IN $labels)
       OR (size($types) > 0 AND EXISTS {
             (n)-[e:$any($types)]-(o) WHERE all(k IN keys($scope) WHERE o[k] = $scope[k])
               AND ($view IS NULL OR EXISTS { (o)-[:PGS_SEEN]->(:PgsView {id: $view}) })
               AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(e[v.name]) < v.high, e[v.name] IS NULL))
           }))
RETURN elementId(n) AS element_id LIMIT $most
