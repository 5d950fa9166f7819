// Internal ids of a view's nodes and the approximate length of each text in characters, so that
// texts can be read in portions of a known size. The ids hold within one job.
// The facts of relationships within the view are text of their source. If `facts` is
// empty, no relationship is read.
// params: labels: list[str], text: list[dict], facts: list[dict], scope: dict, view: str?,
//   valid: list[dict]
// returns: ids: list[int], sizes: list[int]
// mode: read
// sees: nodes
CALL () {
  WITH $labels AS labels WHERE size(labels) > 0
  MATCH (n:$any(labels)) WHERE all(k IN keys($scope) WHERE n[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  RETURN n
  UNION ALL
  WITH $labels AS labels WHERE size(labels) = 0
  MATCH (n)
  WHERE none(label IN labels(n) WHERE label STARTS WITH 'Pgs') AND all(k IN keys($scope) WHERE n[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  RETURN n
}
WITH id(n) AS id,
     reduce(total = 0, value IN
         [own IN $text WHERE own.label IN labels(n) + '' | n[own.property]]
           + CASE size($facts) WHEN 0 THEN [] ELSE COLLECT {
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
           UNWIND [r[view.fact], left(head([own IN view.names WHERE own.label IN labels(t) + ''
             | toStringOrNull(t[own.property])]), 200), type(r)] AS value
           RETURN value
         } END
       | total +
       CASE
         WHEN value IS NULL THEN 0
         WHEN value IS :: STRING NOT NULL THEN size(value)
         WHEN value IS :: LIST<STRING NOT NULL> NOT NULL
           THEN reduce(length = 0, item IN value | length + size(item) + 1)
         WHEN value IS :: LIST<ANY> NOT NULL THEN 24 * size(value)
         ELSE 24
       END) AS size
RETURN collect(id) AS ids, collect(size) AS sizes
