// The number of passages that mention each of some nodes.
// params: nodes: list[str], mention_types: list[str], chunk_labels: list[str], scope: dict,
//   view: str?, valid: list[dict]
// returns: ids: list[str], counts: list[int]
// mode: read
// sees: nodes
UNWIND $nodes AS element_id
MATCH (n) WHERE elementId(n) = element_id AND all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
WITH element_id, COUNT {
       MATCH (n)-[s]-(c)
       WHERE type(s) IN $mention_types AND any(label IN labels(c) WHERE label IN $chunk_labels)
         AND all(k IN keys($scope) WHERE c[k] = $scope[k])
         AND ($view IS NULL OR EXISTS { (c)-[:PGS_SEEN]->(:PgsView {id: $view}) })
         AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(s[v.name]) < v.high, s[v.name] IS NULL))
       RETURN DISTINCT c
     } AS mentions
RETURN collect(element_id) AS ids, collect(mentions) AS counts
