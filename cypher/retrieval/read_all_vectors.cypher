// Every stored embedding of a view that has the wanted length, streamed.
// params: labels: list[str], embedding: str, dimensions: int
// returns: element_id: str, vector: list[float]
// mode: read
// language: 5, 25
CALL () {
  WITH $labels AS labels WHERE size(labels) > 0
  MATCH (n:$any(labels)) RETURN n
  UNION ALL
  WITH $labels AS labels WHERE size(labels) = 0
  MATCH (n) WHERE none(label IN labels(n) WHERE label STARTS WITH 'Pgs') RETURN n
}
WITH n, n[$embedding] AS vector
WHERE vector IS :: LIST<FLOAT NOT NULL> NOT NULL | LIST<INTEGER NOT NULL> NOT NULL AND size(vector) = $dimensions
RETURN elementId(n) AS element_id, toFloatList(vector) AS vector
