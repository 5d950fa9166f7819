// Passages that mention some nodes of a view, or neighbors of these: for each node, those nearest to
// a vector. `direct`: the passage mentions the node itself. `score` is the cosine, null without an
// embedding. Relationships of this package do not count. All are in one row, as in `find_facts`.
// params: nodes: list[str], far: int, types: list[str], mention_types: list[str],
//   chunk_labels: list[str], embedding: str, vector: list[float], near_each: int, far_each: int,
//   scope: dict, view: str?, valid: list[dict]
// returns: passages: list[dict]
// mode: read
// sees: nodes
UNWIND range(0, size($nodes) - 1) AS i
MATCH (n) WHERE elementId(n) = $nodes[i] AND all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
CALL (n, i) {
  MATCH (n)-[s]-(c)
  WHERE type(s) IN $mention_types AND any(label IN labels(c) WHERE label IN $chunk_labels)
    AND all(k IN keys($scope) WHERE c[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (c)-[:PGS_SEEN]->(:PgsView {id: $view}) })
    AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(s[v.name]) < v.high, s[v.name] IS NULL))
  RETURN c, true AS direct
  UNION
  WITH n, i WHERE i < $far
  MATCH (n)-[r]-(m)-[s]-(c)
  WHERE CASE size($types) WHEN 0 THEN NOT type(r) STARTS WITH 'PGS_' ELSE type(r) IN $types END
    AND NOT type(r) IN $mention_types AND type(s) IN $mention_types AND m <> n AND c <> n
    AND any(label IN labels(c) WHERE label IN $chunk_labels)
    AND all(k IN keys($scope) WHERE m[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (m)-[:PGS_SEEN]->(:PgsView {id: $view}) })
    AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(r[v.name]) < v.high, r[v.name] IS NULL))
    AND all(k IN keys($scope) WHERE c[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (c)-[:PGS_SEEN]->(:PgsView {id: $view}) })
    AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(s[v.name]) < v.high, s[v.name] IS NULL))
  RETURN c, false AS direct
}
WITH i, c, max(direct) AS direct, c[$embedding] AS own
WITH i, c, direct,
     CASE WHEN own IS :: LIST<FLOAT NOT NULL> NOT NULL | LIST<INTEGER NOT NULL> NOT NULL
            AND size($vector) > 0 AND size(own) = size($vector) AND any(x IN own WHERE x <> 0)
          THEN 2 * vector.similarity.cosine(own, $vector) - 1 END AS score
WITH i, c, direct, score ORDER BY coalesce(score, -1.0) DESC, elementId(c)
WITH i, direct, collect({node: $nodes[i], passage: elementId(c), direct: direct, score: score}) AS found
WITH i, direct, found[..CASE WHEN direct THEN $near_each ELSE $far_each END] AS best ORDER BY i, direct DESC
UNWIND best AS one
RETURN collect(one) AS passages
