// Internal ids of a view's nodes and the approximate length of each text in characters, so that
// texts can be read in portions of a known size. The ids hold within one job.
// params: labels: list[str], text: list[str]
// returns: ids: list[int], sizes: list[int]
// mode: read
// language: 5, 25
CALL () {
  WITH $labels AS labels WHERE size(labels) > 0
  MATCH (n:$any(labels)) RETURN n
  UNION ALL
  WITH $labels AS labels WHERE size(labels) = 0
  MATCH (n) WHERE none(label IN labels(n) WHERE label STARTS WITH 'Pgs') RETURN n
}
WITH id(n) AS id,
     reduce(total = 0, property IN $text | total +
       CASE
         WHEN n[property] IS NULL THEN 0
         WHEN n[property] IS :: STRING NOT NULL THEN size(n[property])
         WHEN n[property] IS :: LIST<STRING NOT NULL> NOT NULL
           THEN reduce(length = 0, item IN n[property] | length + size(item) + 1)
         WHEN n[property] IS :: LIST<ANY> NOT NULL THEN 24 * size(n[property])
         ELSE 24
       END) AS size
RETURN collect(id) AS ids, collect(size) AS sizes
