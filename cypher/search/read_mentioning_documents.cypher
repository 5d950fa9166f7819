// The documents whose passages mention nodes, by the partitions that hold these passages; a place is
// the uid of a partition with the ranks to read. A passage that no document has is its own. Nodes
// that more than `most` passages mention, and passages outside the partitions, are left out.
// params: places: list[dict], partitions: list[str], labels: list[str], types: list[str],
//   mentions: list[str], most: int, scope: dict, view: str?, valid: list[dict]
// returns: partition: int, rank: int, document: str, home: int, passages: int
// mode: read
// sees: nodes
UNWIND $places AS place
MATCH (p:PgsPartition {uid: place.partition})<-[m:PGS_IN]-(n)
WHERE m.rank IN place.ranks AND none(label IN labels(n) WHERE label IN $labels)
  AND all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  AND COUNT {
        MATCH (n)-[a:$any($mentions)]-(o) WHERE all(k IN keys($scope) WHERE o[k] = $scope[k])
          AND ($view IS NULL OR EXISTS { (o)-[:PGS_SEEN]->(:PgsView {id: $view}) })
          AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(a[v.name]) < v.high, a[v.name] IS NULL))
        RETURN 1 AS mention LIMIT $most + 1
      } <= $most
MATCH (n)-[e:$any($mentions)]-(c)
WHERE any(label IN labels(c) WHERE label IN $labels)
  AND all(k IN keys($scope) WHERE c[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (c)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(e[v.name]) < v.high, e[v.name] IS NULL))
MATCH (c)-[:PGS_IN]->(q:PgsPartition)
WHERE q.uid IN $partitions
OPTIONAL MATCH (c)-[f:$any($types)]-(d)
WHERE all(k IN keys($scope) WHERE d[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (d)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(f[v.name]) < v.high, f[v.name] IS NULL))
WITH p.id AS partition, m.rank AS rank, q.id AS home, c,
     coalesce(min(elementId(d)), elementId(c)) AS document
RETURN partition, rank, document, home, count(*) AS passages
