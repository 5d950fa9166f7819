// The fewest relationships of a view, at most three, that lead to some nodes from the nearest of
// some centers. Nodes that are farther away are left out. Both ends are searched from, so that a hub
// between them is not walked through. Relationships of this package do not count.
// params: centers: list[str], nodes: list[str], types: list[str], labels: list[str], scope:
//   dict, view: str?, valid: list[dict]
// returns: ids: list[str], hops: list[int]
// mode: read
// sees: nodes
UNWIND $centers AS wanted
MATCH (c) WHERE elementId(c) = wanted AND all(k IN keys($scope) WHERE c[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (c)-[:PGS_SEEN]->(:PgsView {id: $view}) })
UNWIND $nodes AS element_id
MATCH (n) WHERE elementId(n) = element_id AND n <> c AND all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
MATCH p = shortestPath((c)-[*..3]-(n))
WHERE all(r IN relationships(p)
          WHERE CASE size($types) WHEN 0 THEN NOT type(r) STARTS WITH 'PGS_' ELSE type(r) IN $types END
            AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(r[v.name]) < v.high, r[v.name] IS NULL)))
  AND all(x IN nodes(p)
          WHERE CASE size($labels)
                  WHEN 0 THEN none(label IN labels(x) WHERE label STARTS WITH 'Pgs')
                  ELSE any(label IN labels(x) WHERE label IN $labels)
                END
            AND all(k IN keys($scope) WHERE x[k] = $scope[k])
            AND ($view IS NULL OR EXISTS { (x)-[:PGS_SEEN]->(:PgsView {id: $view}) }))
WITH element_id, min(length(p)) AS hops
RETURN collect(element_id) AS ids, collect(hops) AS hops
