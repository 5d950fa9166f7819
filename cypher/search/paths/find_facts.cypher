// Relationships of a view at some nodes, those with the nearest facts or far ends first. `near`,
// `far`, and `fact` are the cosines of both ends and of the fact to a vector, null without an
// embedding. `forward`: the relationship leads away from the near end. `feedback` is its weight by the outcomes of runs, null
// before any. Relationships of this package do not count. All are
// in one row, since a driver takes longer for a row than a server for a relationship.
// params: nodes: list[str], types: list[str], labels: list[str], title: list[dict], key:
//   list[dict], text: list[dict], embedding: str, vector: list[float], weight: str, name: str,
//   fact_text: str, fact_embedding: str, k: int, scope: dict, view: str?, valid: list[dict]
// returns: facts: list[dict]
// mode: read
// sees: nodes
UNWIND $nodes AS wanted
MATCH (n) WHERE elementId(n) = wanted AND all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
WITH n, n[$embedding] AS own
WITH n, CASE WHEN own IS :: LIST<FLOAT NOT NULL> NOT NULL | LIST<INTEGER NOT NULL> NOT NULL
               AND size($vector) > 0 AND size(own) = size($vector) AND any(x IN own WHERE x <> 0)
             THEN 2 * vector.similarity.cosine(own, $vector) - 1 END AS near
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
WITH m, collect([n, near, r]) AS links
WITH m, links, m[$embedding] AS own
WITH m, links,
     CASE WHEN own IS :: LIST<FLOAT NOT NULL> NOT NULL | LIST<INTEGER NOT NULL> NOT NULL
            AND size($vector) > 0 AND size(own) = size($vector) AND any(x IN own WHERE x <> 0)
          THEN 2 * vector.similarity.cosine(own, $vector) - 1 END AS far
UNWIND links AS link
WITH m, far, link[0] AS n, link[1] AS near, link[2] AS r
WITH n, near, m, far, r, r[$fact_embedding] AS own
WITH n, near, m, far, r,
     CASE WHEN own IS :: LIST<FLOAT NOT NULL> NOT NULL | LIST<INTEGER NOT NULL> NOT NULL
            AND size($vector) > 0 AND size(own) = size($vector) AND any(x IN own WHERE x <> 0)
          THEN 2 * vector.similarity.cosine(own, $vector) - 1 END AS fact
WITH n, near, m, far, r, fact ORDER BY coalesce(fact, far, -1.0) DESC, elementId(r), elementId(n) LIMIT $k
RETURN collect({
  id: elementId(r), type: type(r), forward: startNode(r) = n,
  near_id: elementId(n), far_id: elementId(m), near: near, far: far, fact: fact,
  weight: r[$weight], name: r[$name], text: r[$fact_text],
  feedback: CASE WHEN startNode(r) = n
    THEN head([(n)<-[:PGS_SOURCE]-(t:PgsTriplet {type: type(r)})-[:PGS_TARGET]->(m) | t.weight])
    ELSE head([(m)<-[:PGS_SOURCE]-(t:PgsTriplet {type: type(r)})-[:PGS_TARGET]->(n) | t.weight])
  END,
  near_title: coalesce(
    head([own IN $title WHERE own.label IN labels(n) + '' AND n[own.property] <> '' |
      toStringOrNull(n[own.property])]),
    head([key IN [own IN $key WHERE own.label IN labels(n) + '' | toStringOrNull(n[own.property])]
      WHERE key <> '' | CASE WHEN key =~ '\\P{L}*' THEN head(labels(n)) + ' ' + key ELSE key END]),
    head([own IN $text WHERE own.label IN labels(n) + '' AND n[own.property] IS :: STRING NOT NULL
       | left(n[own.property], 100)]),
    head(labels(n))),
  far_title: coalesce(
    head([own IN $title WHERE own.label IN labels(m) + '' AND m[own.property] <> '' |
      toStringOrNull(m[own.property])]),
    head([key IN [own IN $key WHERE own.label IN labels(m) + '' | toStringOrNull(m[own.property])]
      WHERE key <> '' | CASE WHEN key =~ '\\P{L}*' THEN head(labels(m)) + ' ' + key ELSE key END]),
    head([own IN $text WHERE own.label IN labels(m) + '' AND m[own.property] IS :: STRING NOT NULL
       | left(m[own.property], 100)]),
    head(labels(m)))
}) AS facts
