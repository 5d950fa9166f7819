// Relationships that leave some nodes, as parallel lists, one row per type. The other end may
// be outside of the view. A weight that is not a number becomes NaN.
// params: ids: list[int], types: list[str], weight: str, scope: dict, view: str?, valid: list[dict]
// returns: type: str, sources: list[int], targets: list[int], weights: list[float]
// mode: read
// sees: nodes
MATCH (n) WHERE id(n) IN $ids AND all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
MATCH (n)-[r]->(m)
WHERE all(k IN keys($scope) WHERE m[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (m)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(r[v.name]) < v.high, r[v.name] IS NULL))
  AND CASE size($types)
        WHEN 0 THEN NOT type(r) STARTS WITH 'PGS_'
        ELSE type(r) IN $types
      END
WITH type(r) AS type, id(n) AS source, id(m) AS target, r[$weight] AS raw
RETURN type, collect(source) AS sources, collect(target) AS targets,
       collect(CASE WHEN raw IS :: INTEGER NOT NULL | FLOAT NOT NULL
                    THEN toFloat(raw) ELSE 0.0 / 0.0 END) AS weights
