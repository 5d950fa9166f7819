// A node of a view with what a sweep shows of it, its other properties, and its place in the
// current generation of a graph. No row if it is gone, or not of the view. Vectors are left out,
// as are the properties that are text, title, or hidden; a longer value is cut to `characters`, or
// to `items`.
// The current generation is found as in partitioning/read_current.
// The facts of relationships within the view are text of their source. If `facts` is
// empty, no relationship is read.
// params: graph: graph, node: str, labels: list[str], text: list[dict], title: list[dict], key:
//   list[dict], weight: str, hidden: list[str], characters: int, items: int, most: int, facts:
//   list[dict], scope: dict, view: str?, valid: list[dict]
// returns: element_id: str, labels: list[str], text: list[any?], title: any?, key: any?, weight: any?,
//   property_count: int, properties: list[list[any]], place: dict?
// mode: read
// sees: nodes
MATCH (n) WHERE elementId(n) = $node
  AND CASE size($labels)
        WHEN 0 THEN none(label IN labels(n) WHERE label STARTS WITH 'Pgs')
        ELSE any(label IN labels(n) WHERE label IN $labels)
      END
  AND all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
UNWIND [null] + keys(n) AS name
WITH n, name ORDER BY name
WITH n, [found IN collect(name) WHERE NOT found IN $hidden
         AND none(own IN $text + $title WHERE own.property = found AND own.label IN labels(n) + '')
         AND NOT (n[found] IS :: LIST<FLOAT NOT NULL> NOT NULL | LIST<INTEGER NOT NULL> NOT NULL
                  AND size(n[found]) >= 32)] AS names
OPTIONAL MATCH (g:PgsGraph {name: $graph})
CALL (g) {
  OPTIONAL MATCH (g)<-[:PGS_OF]-(c:PgsGeneration {status: 'complete'})
  RETURN c ORDER BY EXISTS { (g)-[:PGS_CURRENT]->(c) } DESC, c.created_at DESC LIMIT 1
}
RETURN elementId(n) AS element_id,
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
         | n[own.property]]) AS key,
       n[$weight] AS weight, size(names) AS property_count,
       [found IN names[..$most] | [found,
         CASE WHEN n[found] IS :: STRING NOT NULL THEN left(n[found], $characters + 1)
              WHEN n[found] IS :: LIST<ANY> NOT NULL THEN n[found][..$items]
              ELSE n[found] END]] AS properties,
       head([(n)-[m:PGS_IN]->(p:PgsPartition) WHERE p.level = 0
                                                   AND EXISTS { (p)-[:PGS_PART_OF]->(c) }
             | {partition: p.id, label: p.label, rank: m.rank}]) AS place
