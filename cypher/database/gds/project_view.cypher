// Project a view into GDS: undirected, self-loops left out, weights made usable.
// A missing or non-finite weight counts 1. A relationship of weight 0 or less binds nothing and is
// left out. Other weights are clipped to 1e-100 and 1e12: far outside of that, Leiden fails or puts
// all nodes into one community. `uniform` ignores all weights. All nodes come before the
// relationships, so that they stand in the order of `ids`.
// params: name: str, ids: list[int], labels: list[str], types: list[str], weight: str,
//   uniform: bool, concurrency: int, scope: dict, view: str?, valid: list[dict]
// returns: graph: dict
// mode: read
// sees: nodes
CALL () {
  UNWIND $ids AS id
  MATCH (n) WHERE id(n) = id AND all(k IN keys($scope) WHERE n[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  RETURN n, null AS m, null AS raw
  UNION ALL
  MATCH (n)-[r]->(m)
  WHERE id(n) IN $ids  // id by id, the planner scans a store of few relationships for each
    AND m <> n
    AND CASE size($types)
          WHEN 0 THEN NOT type(r) STARTS WITH 'PGS_'
          ELSE type(r) IN $types
        END
    AND CASE size($labels)
          WHEN 0 THEN none(label IN labels(m) WHERE label STARTS WITH 'Pgs')
          ELSE any(label IN labels(m) WHERE label IN $labels)
        END
    AND all(k IN keys($scope) WHERE m[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (m)-[:PGS_SEEN]->(:PgsView {id: $view}) })
    AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(r[v.name]) < v.high, r[v.name] IS NULL))
  RETURN n, m,
         CASE WHEN NOT $uniform AND r[$weight] IS :: INTEGER | FLOAT THEN toFloat(r[$weight]) END AS raw
}
WITH n, m,
     CASE
       WHEN raw IS NULL OR isNaN(raw - raw) THEN 1.0  // infinity minus infinity is NaN
       WHEN raw > 1.0e12 THEN 1.0e12
       WHEN raw > 0.0 AND raw < 1.0e-100 THEN 1.0e-100
       ELSE raw
     END AS weight
WHERE m IS NULL OR weight > 0.0
RETURN gds.graph.project(
  $name, n, m,
  {relationshipProperties: {weight: weight}},
  {undirectedRelationshipTypes: ['*'], readConcurrency: $concurrency}
) AS graph
