// Members of partitions by rank; a place is the uid of a partition with the ranks to read. `most`
// cuts each text to so many characters, which is enough for a title.
// The facts of relationships within the view are text of their source. If `facts` is
// empty, no relationship is read. In one row, because rows cost more than nodes: partition, rank,
// element id, labels, texts, title, and key.
// params: places: list[dict], text: list[dict], title: list[dict], key: list[dict], most: int?,
//   facts: list[dict], scope: dict, view: str?, valid: list[dict]
// returns: members: list[list[any?]]
// mode: read
// sees: nodes
UNWIND $places AS place
MATCH (p:PgsPartition {uid: place.partition})<-[m:PGS_IN]-(n)
WHERE m.rank IN place.ranks AND all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
WITH p.id AS partition, m.rank AS rank, n, CASE size($facts) WHEN 0 THEN [] ELSE COLLECT {
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
RETURN collect([partition, rank, elementId(n),
                [label IN labels(n) WHERE NOT label STARTS WITH 'Pgs'],
                [own IN $text WHERE own.label IN labels(n) + '' |
                 CASE WHEN n[own.property] IS :: STRING NOT NULL AND $most IS NOT NULL
                      THEN left(n[own.property], $most)
                      ELSE n[own.property] END] + facts,
                head([own IN $title WHERE own.label IN labels(n) + '' AND n[own.property] <> ''
                      | n[own.property]]),
                head([own IN $key WHERE own.label IN labels(n) + '' AND n[own.property] <> ''
                      | n[own.property]])]) AS members
