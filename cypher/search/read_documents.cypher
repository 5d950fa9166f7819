// The documents of passages; a place is the uid of a partition with the ranks to read. A passage
// that no document has is its own, and what is no passage is left out.
// params: places: list[dict], labels: list[str], types: list[str], scope: dict, view: str?,
//   valid: list[dict]
// returns: partition: int, rank: int, document: str
// mode: read
// sees: nodes
UNWIND $places AS place
MATCH (p:PgsPartition {uid: place.partition})<-[m:PGS_IN]-(n)
WHERE m.rank IN place.ranks AND any(label IN labels(n) WHERE label IN $labels)
  AND all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
OPTIONAL MATCH (n)-[e:$any($types)]-(d)
WHERE all(k IN keys($scope) WHERE d[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (d)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(e[v.name]) < v.high, e[v.name] IS NULL))
WITH p.id AS partition, m.rank AS rank, elementId(n) AS own, min(elementId(d)) AS document
RETURN partition, rank, coalesce(document, own) AS document
