// The texts of documents by their element ids: of each at most `passages` passages, and of each of
// these at most `most` characters. A passage that no document has is its own.
// params: ids: list[str], labels: list[str], types: list[str], text: list[dict], passages: int,
//   most: int, scope: dict, view: str?, valid: list[dict]
// returns: document: str, texts: list[str]
// mode: read
// sees: nodes
MATCH (d) WHERE elementId(d) IN $ids AND all(k IN keys($scope) WHERE d[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (d)-[:PGS_SEEN]->(:PgsView {id: $view}) })
CALL (d) {
  OPTIONAL MATCH (d)-[e:$any($types)]-(c)
  WHERE any(label IN labels(c) WHERE label IN $labels)
    AND all(k IN keys($scope) WHERE c[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (c)-[:PGS_SEEN]->(:PgsView {id: $view}) })
    AND all(v IN $valid WHERE coalesce(v.low <= toStringOrNull(e[v.name]) < v.high, e[v.name] IS NULL))
  WITH coalesce(c, d) AS passage
  ORDER BY elementId(passage)
  RETURN collect(passage)[..$passages] AS passages
}
RETURN elementId(d) AS document,
       COLLECT {
         UNWIND passages AS passage
         UNWIND $text AS own
         WITH passage, own
         WHERE own.label IN labels(passage) + '' AND passage[own.property] IS :: STRING NOT NULL
         RETURN left(passage[own.property], $most)
       } AS texts
