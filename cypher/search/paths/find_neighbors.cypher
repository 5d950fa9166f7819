// What some nodes add to their neighbors in a view, most first: the sum, over the relationships
// between them, of the node's score times the weight, divided by the root of both degrees. A node
// that is walked from may be a neighbor of another one. Relationships of this package do not count.
// The types listed are those at nodes of a view: the server stores degrees, and reads no relationship
// to count them, while a condition on each one took most of the time. Within a scope, only
// relationships to its own nodes count, and are read.
// params: sources: list[str], scores: list[float], types: list[str], labels: list[str],
//   weight: str, k: int, scope: dict, view: str?, valid: list[dict]
// returns: ids: list[str], scores: list[float]
// mode: read
// sees: nodes
UNWIND range(0, size($sources) - 1) AS i
MATCH (n) WHERE elementId(n) = $sources[i] AND all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
MATCH (n)-[r]-(m)
WHERE n <> m
  AND CASE size($types) WHEN 0 THEN NOT type(r) STARTS WITH 'PGS_' ELSE type(r) IN $types END
  AND CASE size($labels)
        WHEN 0 THEN none(label IN labels(m) WHERE label STARTS WITH 'Pgs')
        ELSE any(label IN labels(m) WHERE label IN $labels)
      END
  AND all(k IN keys($scope) WHERE m[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (m)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(r[v.name]) < v.high, r[v.name] IS NULL))
WITH i, n, m, sum(CASE WHEN r[$weight] > 0 THEN toFloat(r[$weight]) ELSE 1.0 END) AS weight
WITH i, n, CASE
       WHEN size(keys($scope)) > 0 OR $view IS NOT NULL THEN COUNT {
         (n)-[r]-(o)
         WHERE CASE size($types) WHEN 0 THEN NOT type(r) STARTS WITH 'PGS_' ELSE type(r) IN $types END
           AND all(k IN keys($scope) WHERE o[k] = $scope[k])
           AND ($view IS NULL OR EXISTS { (o)-[:PGS_SEEN]->(:PgsView {id: $view}) })
           AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(r[v.name]) < v.high, r[v.name] IS NULL))
       }
       WHEN size($types) = 0 THEN COUNT { (n)--() } - COUNT {
         (n)-[:PGS_IN|PGS_CITES|PGS_SEEN_IN|PGS_ABOUT|PGS_SOURCE|PGS_TARGET|PGS_SHOWED|PGS_ISOMORPHIC|PGS_SEEN]-()
       }
       ELSE COUNT { (n)-[r]-() WHERE type(r) IN $types }
     END AS own, collect([m, weight]) AS ends
UNWIND ends AS pair
WITH i, own, pair[0] AS m, pair[1] AS weight
WITH m, sum($scores[i] * weight / sqrt(toFloat(own))) AS given
WITH m, given, CASE
       WHEN size(keys($scope)) > 0 OR $view IS NOT NULL THEN COUNT {
         (m)-[r]-(o)
         WHERE CASE size($types) WHEN 0 THEN NOT type(r) STARTS WITH 'PGS_' ELSE type(r) IN $types END
           AND all(k IN keys($scope) WHERE o[k] = $scope[k])
           AND ($view IS NULL OR EXISTS { (o)-[:PGS_SEEN]->(:PgsView {id: $view}) })
           AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(r[v.name]) < v.high, r[v.name] IS NULL))
       }
       WHEN size($types) = 0 THEN COUNT { (m)--() } - COUNT {
         (m)-[:PGS_IN|PGS_CITES|PGS_SEEN_IN|PGS_ABOUT|PGS_SOURCE|PGS_TARGET|PGS_SHOWED|PGS_ISOMORPHIC|PGS_SEEN]-()
       }
       ELSE COUNT { (m)-[r]-() WHERE type(r) IN $types }
     END AS own
WITH elementId(m) AS element_id, given / sqrt(toFloat(own)) AS score
ORDER BY score DESC, element_id LIMIT $k
RETURN collect(element_id) AS ids, collect(score) AS scores
