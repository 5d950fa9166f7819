// What partitioning needs of some nodes of a view, as parallel lists: text, weight, length of
// the vector, and a few of its components. A missing weight or component is NaN.
// The facts of relationships within the view are text of their source. If `facts` is
// empty, no relationship is read.
// params: ids: list[int], text: list[dict], weight: str, embedding: str, facts: list[dict],
//   scope: dict, view: str?, valid: list[dict]
// returns: ids: list[int], texts: list[list[any?]], weights: list[float], dimensions: list[int],
//   probes: list[list[float]]
// mode: read
// sees: nodes
MATCH (n) WHERE id(n) IN $ids AND all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
WITH n, CASE WHEN n[$embedding] IS :: LIST<FLOAT NOT NULL> NOT NULL | LIST<INTEGER NOT NULL> NOT NULL
             THEN n[$embedding] ELSE [] END AS vector
WITH n, CASE size($facts) WHEN 0 THEN [] ELSE COLLECT {
  UNWIND $facts AS view
  MATCH (n)-[r]->(t)
  WHERE r[view.fact] IS NOT NULL
    AND CASE size(view.types)
          WHEN 0 THEN NOT type(r) STARTS WITH 'PGS_'
          ELSE type(r) IN view.types
        END
    AND CASE size(view.labels)
          WHEN 0 THEN none(label IN labels(t) WHERE label STARTS WITH 'Pgs')
          ELSE any(label IN labels(t) WHERE label IN view.labels)
        END
    AND all(k IN keys($scope) WHERE t[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (t)-[:PGS_SEEN]->(:PgsView {id: $view}) })
    AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(r[v.name]) < v.high, r[v.name] IS NULL))
  RETURN {
    type: type(r), name: r[view.name], fact: r[view.fact], node: elementId(t), target:
    head([name IN [own IN view.names WHERE own.label IN labels(t) + '' | toStringOrNull(t[own.property])]
      + [own IN $text WHERE own.label IN labels(t) + '' AND t[own.property] IS :: STRING NOT NULL
         | left(t[own.property], 200)]
      + labels(t) WHERE trim(name) <> '' | left(name, 200)])
  }
} END AS facts,
     size(vector) AS dimensions,
     CASE WHEN n[$weight] IS :: INTEGER NOT NULL | FLOAT NOT NULL
          THEN toFloat(n[$weight]) ELSE 0.0 / 0.0 END AS weight,
     CASE WHEN size(vector) = 0 THEN []
          ELSE [x IN [vector[0], vector[size(vector) / 3], vector[size(vector) / 2], vector[-1]]
                | toFloat(x)] END AS probe
RETURN collect(id(n)) AS ids,
       collect([own IN $text WHERE own.label IN labels(n) + '' | n[own.property]] + facts) AS texts,
       collect(weight) AS weights,
       collect(dimensions) AS dimensions,
       collect(probe) AS probes
