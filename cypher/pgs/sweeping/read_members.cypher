// Nodes of a partition with ranks from `first` up to, but not including, `last`, heaviest first,
// with the data that a sweep shows: rank, element id, labels, texts, title, and key. All nodes are
// in one row, because many rows take longer than many nodes. The facts of relationships within the
// view are part of the text of their source. If `facts` is empty, no relationship is read.
// params: partition: str, first: int, last: int, text: list[dict], title: list[dict], key:
//   list[dict], facts: list[dict], scope: dict, view: str?, valid: list[dict]
// returns: members: list[list[any?]]
// mode: read
// sees: nodes
MATCH (:PgsPartition {uid: $partition})<-[m:PGS_IN]-(n)
WHERE $first <= m.rank < $last AND all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
WITH m.rank AS rank, n, CASE size($facts) WHEN 0 THEN [] ELSE COLLECT {
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
} END AS facts ORDER BY rank
RETURN collect([rank, elementId(n), [label IN labels(n) WHERE NOT label STARTS WITH 'Pgs'],
                [own IN $text WHERE own.label IN labels(n) + '' | n[own.property]] + facts,
                head([own IN $title WHERE own.label IN labels(n) + '' AND n[own.property] <> ''
                      | n[own.property]]),
                head([own IN $key WHERE own.label IN labels(n) + '' AND n[own.property] <> ''
                      | n[own.property]])]) AS members
