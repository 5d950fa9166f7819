// What partitioning needs of each node of a view: internal id, weight, text, vector length.
// The id holds within one job and is never stored.
// params: labels, text, weight, embedding
// returns: id, weight, text, dimensions
// mode: read
CALL () {
  WITH $labels AS labels WHERE size(labels) > 0
  MATCH (n:$any(labels)) RETURN n
  UNION ALL
  WITH $labels AS labels WHERE size(labels) = 0
  MATCH (n) WHERE none(label IN labels(n) WHERE label STARTS WITH 'Pgs') RETURN n
}
RETURN id(n) AS id,
       n[$weight] AS weight,
       [property IN $text | n[property]] AS text,
       CASE WHEN n[$embedding] IS :: LIST<FLOAT NOT NULL> NOT NULL | LIST<INTEGER NOT NULL> NOT NULL THEN size(n[$embedding]) ELSE 0 END AS dimensions
