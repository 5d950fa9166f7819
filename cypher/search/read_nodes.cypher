// Some nodes with what a prompt shows of them.
// The facts of relationships within the view are text of their source. If `facts` is
// empty, no relationship is read.
// params: nodes: list[str], text: list[dict], title: list[dict], key: list[dict], facts:
//   list[dict], scope: dict, view: str?, valid: list[dict]
// returns: nodes: list[dict]
// mode: read
// sees: nodes
UNWIND $nodes AS wanted
MATCH (n) WHERE elementId(n) = wanted AND all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
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
} END AS facts
RETURN collect({
  element_id: elementId(n), labels: [label IN labels(n) WHERE NOT label STARTS WITH 'Pgs'],
  text: [own IN $text WHERE own.label IN labels(n) + '' | n[own.property]] + facts,
  title: head([own IN $title WHERE own.label IN labels(n) + '' AND n[own.property] <> ''
               | n[own.property]]),
  key: head([own IN $key WHERE own.label IN labels(n) + '' AND n[own.property] <> ''
             | n[own.property]])
}) AS nodes
