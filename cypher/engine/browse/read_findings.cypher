// Findings of a graph's runs that cite a node of its view, those of the latest run first. Only
// those of accepted passes are stored. Unless `every` is set, only runs of some sessions count. No
// row if the node is gone, or not of the view.
// The facts of relationships within the view are text of their source. If `facts` is
// empty, no relationship is read.
// params: graph: graph, node: str, labels: list[str], text: list[dict], title: list[dict], key:
//   list[dict], every: bool, sessions: list[str], limit: int, facts: list[dict], scope: dict,
//   view: str?, valid: list[dict]
// returns: element_id: str, labels: list[str], text: list[any?], title: any?, key: any?,
//   findings: list[dict]
// mode: read
// sees: nodes
MATCH (n) WHERE elementId(n) = $node
  AND CASE size($labels)
        WHEN 0 THEN none(label IN labels(n) WHERE label STARTS WITH 'Pgs')
        ELSE any(label IN labels(n) WHERE label IN $labels)
      END
  AND all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
RETURN elementId(n) AS element_id, labels(n) AS labels,
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
         | n[own.property]]) AS key, COLLECT {
  MATCH (n)<-[:PGS_CITES]-(f:PgsFinding)-[:PGS_FROM]->(w:PgsSweep)<-[:PGS_SWEPT]-(r:PgsRun)
  WHERE w.status IN ['accepted', 'partial']
  MATCH (r)-[:PGS_RAN_IN]->(s:PgsSession {graph: $graph})
  WHERE $every OR s.id IN $sessions
  WITH DISTINCT f, w, r, s ORDER BY r.started_at DESC, r.id, w.partition, f.place LIMIT $limit
  RETURN {
    id: f.id, text: f.text, doubts: coalesce(f.doubts, []), supported: f.supported, run: r.id, session: s.id,
    question: r.question, partition: w.partition, started_at: toString(r.started_at)
  }
} AS findings
