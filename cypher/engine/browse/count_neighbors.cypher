// Relationships of a view at one of its nodes, by type and direction. At most `most` relationships
// are looked at. They are grouped first, because a condition on each of them takes twice as long.
// No row if the node is gone, or not of the view.
// params: node: str, labels: list[str], types: list[str], most: int, scope: dict, view: str?,
//   valid: list[dict]
// returns: complete: bool, counts: list[dict]
// mode: read
// sees: nodes
MATCH (n) WHERE elementId(n) = $node
  AND CASE size($labels)
        WHEN 0 THEN none(label IN labels(n) WHERE label STARTS WITH 'Pgs')
        ELSE any(label IN labels(n) WHERE label IN $labels)
      END
  AND all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
RETURN CASE
         WHEN size(keys($scope)) = 0 AND $view IS NULL THEN COUNT { (n)--() }
         ELSE COUNT {
           (n)-[e]-(o)
           WHERE all(k IN keys($scope) WHERE o[k] = $scope[k])
             AND ($view IS NULL OR EXISTS { (o)-[:PGS_SEEN]->(:PgsView {id: $view}) })
             AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(e[v.name]) < v.high, e[v.name] IS NULL))
         }
       END <= $most AS complete, COLLECT {
  MATCH (n)-[r]-(m)
  WHERE all(k IN keys($scope) WHERE m[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (m)-[:PGS_SEEN]->(:PgsView {id: $view}) })
    AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(r[v.name]) < v.high, r[v.name] IS NULL))
  WITH n, r, m LIMIT $most
  WITH type(r) AS type, startNode(r) = n AS outgoing, labels(m) AS far, count(*) AS count
  WHERE CASE size($types) WHEN 0 THEN NOT type STARTS WITH 'PGS_' ELSE type IN $types END
    AND CASE size($labels)
          WHEN 0 THEN none(label IN far WHERE label STARTS WITH 'Pgs')
          ELSE any(label IN far WHERE label IN $labels)
        END
  WITH type, outgoing, sum(count) AS count ORDER BY count DESC, type, outgoing
  RETURN {type: type, outgoing: outgoing, count: count}
} AS counts
