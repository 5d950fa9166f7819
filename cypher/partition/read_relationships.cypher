// Endpoints and weights of a view's relationships, as lists grouped by source.
// A weight that is no number comes out as NaN.
// params: labels, types, weight, group_size
// returns: sources, targets, weights
// mode: read
CALL () {
  WITH $labels AS labels WHERE size(labels) > 0
  MATCH (n:$any(labels)) RETURN n
  UNION ALL
  WITH $labels AS labels WHERE size(labels) = 0
  MATCH (n) WHERE none(label IN labels(n) WHERE label STARTS WITH 'Pgs') RETURN n
}
MATCH (n)-[r]->(m)
WHERE CASE size($types)
        WHEN 0 THEN NOT type(r) STARTS WITH 'PGS_'
        ELSE type(r) IN $types
      END
  AND CASE size($labels)
        WHEN 0 THEN none(label IN labels(m) WHERE label STARTS WITH 'Pgs')
        ELSE any(label IN labels(m) WHERE label IN $labels)
      END
WITH id(n) AS source, id(m) AS target, r[$weight] AS raw
WITH source / $group_size AS bucket, collect(source) AS sources, collect(target) AS targets,
     collect(CASE WHEN raw IS :: INTEGER NOT NULL | FLOAT NOT NULL THEN toFloat(raw) ELSE 0.0 / 0.0 END) AS weights
RETURN sources, targets, weights
