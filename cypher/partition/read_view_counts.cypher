// How many nodes and relationships take part in a view.
// params: labels, types
// returns: nodes, relationships
// mode: read
CALL () {
  WITH $labels AS labels WHERE size(labels) > 0
  MATCH (n:$any(labels)) RETURN n
  UNION ALL
  WITH $labels AS labels WHERE size(labels) = 0
  MATCH (n) WHERE none(label IN labels(n) WHERE label STARTS WITH 'Pgs') RETURN n
}
RETURN count(n) AS nodes,
       sum(COUNT {
         MATCH (n)-[r]->(m)
         WHERE CASE size($types)
                 WHEN 0 THEN NOT type(r) STARTS WITH 'PGS_'
                 ELSE type(r) IN $types
               END
           AND CASE size($labels)
                 WHEN 0 THEN none(label IN labels(m) WHERE label STARTS WITH 'Pgs')
                 ELSE any(label IN labels(m) WHERE label IN $labels)
               END
       }) AS relationships
