// Nodes whose text holds at least one of the terms, with the places of the terms it holds.
// Terms are lower case; `size` is the length of the text in characters.
// params: labels: list[str], text: list[str], terms: list[str]
// returns: element_id: str, found: list[int], size: int
// mode: read
// language: 5, 25
CALL () {
  WITH $labels AS labels WHERE size(labels) > 0
  MATCH (n:$any(labels)) RETURN n
  UNION ALL
  WITH $labels AS labels WHERE size(labels) = 0
  MATCH (n) WHERE none(label IN labels(n) WHERE label STARTS WITH 'Pgs') RETURN n
}
WITH n, reduce(joined = '', value IN [property IN $text | n[property]] |
       joined + ' ' + toLower(coalesce(toStringOrNull(value), ''))) AS joined
WITH n, size(joined) AS size, [i IN range(0, size($terms) - 1) WHERE joined CONTAINS $terms[i]] AS found
WHERE size(found) > 0
RETURN elementId(n) AS element_id, found, size
