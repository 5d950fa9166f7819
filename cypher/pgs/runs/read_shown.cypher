// The nodes that the prompt of a run showed and that still exist, in the order of the prompt.
// `hash` is the hash of the text that was shown. The partition is always 0, because a search takes
// nodes from any partition. The facts of relationships within the view are part of the text of
// their source. If `facts` is empty, no relationship is read.
// params: run: str, title: list[dict], key: list[dict], text: list[dict], facts: list[dict],
//   scope: dict, view: str?, valid: list[dict]
// returns: partition: int, rank: int, hash: int, element_id: str, labels: list[str], title: any?,
//   key: any?, text: list[any?]
// mode: read
// sees: nodes
MATCH (:PgsRun {id: $run})-[w:PGS_SHOWED]->(n)
WHERE NOT n:PgsTriplet AND all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
RETURN 0 AS partition, w.place AS rank, w.hash AS hash, elementId(n) AS element_id,
       [label IN labels(n) WHERE NOT label STARTS WITH 'Pgs'] AS labels,
       head([own IN $title WHERE own.label IN labels(n) + '' AND n[own.property] <> '' | n[own.property]])
         AS title,
       head([own IN $key WHERE own.label IN labels(n) + '' AND n[own.property] <> ''
         | n[own.property]]) AS key,
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
       } END AS text
ORDER BY rank
