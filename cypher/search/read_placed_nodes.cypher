// Some nodes with their place in a generation and what a prompt shows of them. Nodes that are
// gone, or have no place in it, have no row.
// The facts of relationships within the view are text of their source. If `facts` is
// empty, no relationship is read.
// params: generation: str, nodes: list[str], text: list[dict], title: list[dict], key:
//   list[dict], facts: list[dict], scope: dict, view: str?, valid: list[dict]
// returns: partition: int, rank: int, element_id: str, labels: list[str], text: list[any?],
//   title: any?, key: any?
// mode: read
// sees: nodes
UNWIND $nodes AS wanted
MATCH (n) WHERE elementId(n) = wanted AND all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
MATCH (n)-[m:PGS_IN]->(p:PgsPartition)-[:PGS_PART_OF]->(:PgsGeneration {id: $generation})
WHERE p.level = 0
RETURN p.id AS partition, m.rank AS rank, elementId(n) AS element_id,
       [label IN labels(n) WHERE NOT label STARTS WITH 'Pgs'] AS labels,
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
         RETURN {
           type: type(r), name: r[view.name], fact: r[view.fact], node: elementId(t), target:
           head([name IN [own IN view.names WHERE own.label IN labels(t) + ''
             | toStringOrNull(t[own.property])]
             + [own IN $text WHERE own.label IN labels(t) + '' AND t[own.property] IS :: STRING NOT NULL
                | left(t[own.property], 200)]
             + labels(t) WHERE trim(name) <> '' | left(name, 200)])
         }
       } END AS text,
       head([own IN $title WHERE own.label IN labels(n) + '' AND n[own.property] <> '' | n[own.property]])
         AS title,
       head([own IN $key WHERE own.label IN labels(n) + '' AND n[own.property] <> ''
         | n[own.property]]) AS key
