// Nodes of a view whose titles are one of some keywords, or hold one, best first: for each keyword
// `exact` nodes of that very title, and `part` others, the shorter titles first. Keywords are in
// lower case. The score is the share of the title that the keyword fills.
// params: keywords: list[str], title: list[dict], labels: list[str], exact: int, part: int,
//   scope: dict, view: str?
// returns: ids: list[str], scores: list[float]
// mode: read
// sees: nodes
CALL () {
  WITH $labels AS labels WHERE size(labels) > 0
  MATCH (n:$any(labels)) WHERE all(k IN keys($scope) WHERE n[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  RETURN n
  UNION ALL
  WITH $labels AS labels WHERE size(labels) = 0
  MATCH (n)
  WHERE none(label IN labels(n) WHERE label STARTS WITH 'Pgs') AND all(k IN keys($scope) WHERE n[k] = $scope[k])
    AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
  RETURN n
}
WITH DISTINCT n, toLower(trim(coalesce(toStringOrNull(
       head([own IN $title WHERE own.label IN labels(n) + '' AND n[own.property] <> ''
             | n[own.property]])), ''))) AS title
UNWIND [keyword IN $keywords WHERE title CONTAINS keyword] AS keyword
WITH keyword, title, elementId(n) AS element_id ORDER BY size(title), element_id
WITH keyword, collect({id: element_id, size: size(title), exact: title = keyword}) AS found
UNWIND [one IN found WHERE one.exact][..$exact] + [one IN found WHERE NOT one.exact][..$part] AS one
WITH one.id AS element_id, max(toFloat(size(keyword)) / one.size) AS score
ORDER BY score DESC, element_id
RETURN collect(element_id) AS ids, collect(score) AS scores
