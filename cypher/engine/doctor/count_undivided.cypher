// Number of nodes of a view, and of those that lack one of the properties that divide it.
// params: labels: list[str], properties: list[str]
// returns: nodes: int, lacking: int
// mode: read
// sees: everything
CALL () {
  WITH $labels AS labels WHERE size(labels) > 0
  MATCH (n:$any(labels)) RETURN n
  UNION ALL
  WITH $labels AS labels WHERE size(labels) = 0
  MATCH (n) WHERE none(label IN labels(n) WHERE label STARTS WITH 'Pgs') RETURN n
}
WITH DISTINCT n
RETURN count(n) AS nodes,
       count(CASE WHEN any(name IN $properties WHERE n[name] IS NULL) THEN 1 END) AS lacking
