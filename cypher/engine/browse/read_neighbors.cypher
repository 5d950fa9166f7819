// Neighbors of a node of a view by the relationships between them, in the order of their ids, from
// those after `after` on. An empty `type` means all types. At most `most` relationships are looked
// at, and of these the first `candidates` are tried for the view: `tried` is how many there were,
// `last` the id of the last one. Names and facts are cut to `length` characters, what a title is
// made of to `head`. No row if the node is gone, or not of the view.
// params: node: str, labels: list[str], types: list[str], type: str, after: int, candidates:
//   int, limit: int, most: int, text: list[dict], title: list[dict], key: list[dict], name: str,
//   fact: str, length: int, head: int, scope: dict, view: str?, valid: list[dict]
// returns: complete: bool, tried: int, last: int?, neighbors: list[dict]
// mode: read
// sees: nodes
MATCH (n) WHERE elementId(n) = $node
  AND CASE size($labels)
        WHEN 0 THEN none(label IN labels(n) WHERE label STARTS WITH 'Pgs')
        ELSE any(label IN labels(n) WHERE label IN $labels)
      END
  AND all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
CALL (n) {
  MATCH (n)-[r]-(m)
  WHERE all(k IN keys($scope) WHERE m[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (m)-[:PGS_SEEN]->(:PgsView {id: $view}) })
    AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(r[v.name]) < v.high, r[v.name] IS NULL))
  WITH r, m LIMIT $most
  WHERE id(r) > $after AND ($type = '' OR type(r) = $type)
  WITH r, m ORDER BY id(r) LIMIT $candidates
  RETURN collect([r, m]) AS pairs
}
RETURN CASE
         WHEN size(keys($scope)) = 0 AND $view IS NULL THEN COUNT { (n)--() }
         ELSE COUNT {
           (n)-[e]-(o)
           WHERE all(k IN keys($scope) WHERE o[k] = $scope[k])
             AND ($view IS NULL OR EXISTS { (o)-[:PGS_SEEN]->(:PgsView {id: $view}) })
             AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(e[v.name]) < v.high, e[v.name] IS NULL))
         }
       END <= $most AS complete,
       size(pairs) AS tried, id(pairs[-1][0]) AS last,
COLLECT {
  UNWIND pairs AS pair
  WITH pair[0] AS r, pair[1] AS m
  WHERE CASE size($types) WHEN 0 THEN NOT type(r) STARTS WITH 'PGS_' ELSE type(r) IN $types END
    AND CASE size($labels)
          WHEN 0 THEN none(label IN labels(m) WHERE label STARTS WITH 'Pgs')
          ELSE any(label IN labels(m) WHERE label IN $labels)
        END
  WITH r, m ORDER BY id(r) LIMIT $limit
  RETURN {
    place: id(r), type: type(r), outgoing: startNode(r) = n, element_id: elementId(m),
    labels: [label IN labels(m) WHERE NOT label STARTS WITH 'Pgs'],
    name: coalesce(left(toStringOrNull(r[$name]), $length), ''),
    fact: CASE WHEN r[$fact] IS :: STRING NOT NULL THEN left(r[$fact], $length) ELSE r[$fact] END,
    title: head([own IN $title WHERE own.label IN labels(m) + '' AND m[own.property] <> '' |
      CASE WHEN m[own.property] IS :: STRING NOT NULL THEN left(m[own.property], $head)
           ELSE m[own.property] END]),
    key: head([own IN $key WHERE own.label IN labels(m) + '' AND m[own.property] <> '' |
      CASE WHEN m[own.property] IS :: STRING NOT NULL THEN left(m[own.property], $head)
           ELSE m[own.property] END]),
    text: [own IN $text WHERE own.label IN labels(m) + '' |
      CASE WHEN m[own.property] IS :: STRING NOT NULL THEN left(m[own.property], $head)
           ELSE m[own.property] END]
  }
} AS neighbors
