// Embedding and text of some nodes, as parallel lists. The vector is empty if it is missing or
// has another length.
// The facts of relationships within the view are text of their source. If `facts` is
// empty, no relationship is read.
// params: ids: list[int], text: list[dict], embedding: str, dimensions: int, facts: list[dict],
//   scope: dict, view: str?, valid: list[dict]
// returns: ids: list[int], vectors: list[list[float]], texts: list[list[any?]]
// mode: read
// sees: nodes
MATCH (n) WHERE id(n) IN $ids AND all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
WITH n,
     CASE WHEN n[$embedding] IS :: LIST<FLOAT NOT NULL> NOT NULL | LIST<INTEGER NOT NULL> NOT NULL
               AND size(n[$embedding]) = $dimensions
          THEN n[$embedding] ELSE [] END AS vector
WITH n, vector,
     CASE size(vector) WHEN 0 THEN CASE size($facts) WHEN 0 THEN [] ELSE COLLECT {
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
         head([name IN [own IN view.names WHERE own.label IN labels(t) + ''
           | toStringOrNull(t[own.property])]
           + [own IN $text WHERE own.label IN labels(t) + '' AND t[own.property] IS :: STRING NOT NULL
              | left(t[own.property], 200)]
           + labels(t) WHERE trim(name) <> '' | left(name, 200)])
       }
     } END ELSE [] END AS facts
RETURN collect(id(n)) AS ids, collect(vector) AS vectors,
       collect(CASE WHEN size(vector) > 0 THEN [] ELSE
               [own IN $text WHERE own.label IN labels(n) + '' | n[own.property]] + facts END) AS texts
