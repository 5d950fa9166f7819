// Number of nodes of a view: the nodes with one of its labels, or without labels all nodes except
// those of this package.
// params: labels: list[str]
// returns: nodes: int
// mode: read
CALL () {
  WITH $labels AS labels WHERE size(labels) > 0
  MATCH (n:$any(labels)) RETURN n
  UNION ALL
  WITH $labels AS labels WHERE size(labels) = 0
  MATCH (n) WHERE none(label IN labels(n) WHERE label STARTS WITH 'Pgs') RETURN n
}
RETURN count(n) AS nodes
