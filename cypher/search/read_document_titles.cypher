// The titles of documents by their element ids. One without a title or a name is left out.
// params: ids: list[str], scope: dict, view: str?
// returns: document: str, title: str
// mode: read
// sees: nodes
MATCH (d) WHERE elementId(d) IN $ids AND all(k IN keys($scope) WHERE d[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (d)-[:PGS_SEEN]->(:PgsView {id: $view}) })
WITH elementId(d) AS document, coalesce(toStringOrNull(d.title), toStringOrNull(d.name)) AS title
WHERE title IS NOT NULL
RETURN document, title
