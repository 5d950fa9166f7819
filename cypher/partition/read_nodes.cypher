// What partitioning needs of each node of a view: internal id, weight, text, length of the
// vector and a few of its components. The id holds within one job and is never stored.
// params: labels, text, weight, embedding
// returns: id, weight, text, dimensions, probe
// mode: read
CALL () {
  WITH $labels AS labels WHERE size(labels) > 0
  MATCH (n:$any(labels)) RETURN n
  UNION ALL
  WITH $labels AS labels WHERE size(labels) = 0
  MATCH (n) WHERE none(label IN labels(n) WHERE label STARTS WITH 'Pgs') RETURN n
}
WITH n, CASE WHEN n[$embedding] IS :: LIST<FLOAT NOT NULL> NOT NULL | LIST<INTEGER NOT NULL> NOT NULL
             THEN n[$embedding] ELSE [] END AS vector
RETURN id(n) AS id,
       n[$weight] AS weight,
       [property IN $text | n[property]] AS text,
       size(vector) AS dimensions,
       [vector[0], vector[size(vector) / 3], vector[size(vector) / 2], vector[-1]] AS probe
