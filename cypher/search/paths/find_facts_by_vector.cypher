// Relationships of a view whose facts are nearest to a vector, best first, by vector indexes, which
// hold rounded vectors. `fact` is the exact cosine; `near` and `far` are those of the source and the
// target, null without an embedding. All are in one row, as in `find_facts`.
// params: indexes: list[str], vector: list[float], fact_embedding: str, labels: list[str],
//   title: list[dict], key: list[dict], text: list[dict], embedding: str, weight: str, name:
//   str, fact_text: str, candidates: int, k: int, scope: dict, view: str?, valid: list[dict]
// returns: facts: list[dict]
// mode: read
// sees: nodes
UNWIND $indexes AS index
CALL db.index.vector.queryRelationships(index, $candidates, $vector) YIELD relationship AS r
WITH DISTINCT r, startNode(r) AS n, endNode(r) AS m
WHERE CASE size($labels)
        WHEN 0 THEN none(label IN labels(n) + labels(m) WHERE label STARTS WITH 'Pgs')
        ELSE any(label IN labels(n) WHERE label IN $labels)
          AND any(label IN labels(m) WHERE label IN $labels)
      END
  AND all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  AND all(k IN keys($scope) WHERE m[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (m)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(r[v.name]) < v.high, r[v.name] IS NULL))
WITH r, n, m, 2 * vector.similarity.cosine(r[$fact_embedding], $vector) - 1 AS fact
ORDER BY fact DESC, elementId(r) LIMIT $k
WITH r, n, m, fact, n[$embedding] AS one, m[$embedding] AS other
RETURN collect({
  id: elementId(r), type: type(r), forward: true, near_id: elementId(n), far_id: elementId(m),
  near: CASE WHEN one IS :: LIST<FLOAT NOT NULL> NOT NULL | LIST<INTEGER NOT NULL> NOT NULL
               AND size(one) = size($vector) AND any(x IN one WHERE x <> 0)
             THEN 2 * vector.similarity.cosine(one, $vector) - 1 END,
  far: CASE WHEN other IS :: LIST<FLOAT NOT NULL> NOT NULL | LIST<INTEGER NOT NULL> NOT NULL
              AND size(other) = size($vector) AND any(x IN other WHERE x <> 0)
            THEN 2 * vector.similarity.cosine(other, $vector) - 1 END,
  fact: fact, weight: r[$weight], name: r[$name], text: r[$fact_text],
  feedback: head([(n)<-[:PGS_SOURCE]-(t:PgsTriplet {type: type(r)})-[:PGS_TARGET]->(m) | t.weight]),
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
