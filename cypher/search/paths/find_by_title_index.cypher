// As `find_by_title`, for titles that full-text indexes hold: candidates by the words of a keyword.
// `keywords` and `phrases` are in parallel; a phrase is a query for the title alone, whose words
// have no sign of the query language.
// params: keywords: list[str], phrases: list[str], indexes: list[str], title: list[dict],
//   labels: list[str], exact: int, part: int, candidates: int, scope: dict, view: str?
// returns: ids: list[str], scores: list[float]
// mode: read
// sees: nodes
UNWIND range(0, size($keywords) - 1) AS i
UNWIND $indexes AS index
CALL db.index.fulltext.queryNodes(index, $phrases[i], {limit: $candidates}) YIELD node
WITH DISTINCT $keywords[i] AS keyword, node AS n
WHERE CASE size($labels)
        WHEN 0 THEN none(label IN labels(n) WHERE label STARTS WITH 'Pgs')
        ELSE any(label IN labels(n) WHERE label IN $labels)
      END
  AND all(k IN keys($scope) WHERE n[k] = $scope[k])
  AND ($view IS NULL OR EXISTS { (n)-[:PGS_SEEN]->(:PgsView {id: $view}) })
WITH keyword, toLower(trim(coalesce(toStringOrNull(head([own IN $title WHERE own.label IN labels(n) + ''
  AND n[own.property] <> ''
  | n[own.property]])), '')))
  AS title,
     elementId(n) AS element_id
WHERE title CONTAINS keyword
WITH keyword, title, element_id ORDER BY size(title), element_id
WITH keyword, collect({id: element_id, size: size(title), exact: title = keyword}) AS found
UNWIND [one IN found WHERE one.exact][..$exact] + [one IN found WHERE NOT one.exact][..$part] AS one
WITH one.id AS element_id, max(toFloat(size(keyword)) / one.size) AS score
ORDER BY score DESC, element_id
RETURN collect(element_id) AS ids, collect(score) AS scores
