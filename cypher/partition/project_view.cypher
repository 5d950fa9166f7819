// Project a view into GDS: undirected, self-loops left out, weights made usable.
// A missing or non-finite weight counts 1; a relationship of weight 0 or less binds nothing
// and is left out; others count within 1e-100 and 1e12, because Leiden fails, or puts all nodes
// into one community, far outside of that. `uniform` ignores the weights altogether.
// params: name, labels, types, weight, uniform, concurrency
// returns: graph
// mode: read
CALL () {
  WITH $labels AS labels WHERE size(labels) > 0
  MATCH (n:$any(labels)) RETURN n
  UNION ALL
  WITH $labels AS labels WHERE size(labels) = 0
  MATCH (n) WHERE none(label IN labels(n) WHERE label STARTS WITH 'Pgs') RETURN n
}
OPTIONAL MATCH (n)-[r]->(m)
WHERE m <> n
  AND CASE size($types)
        WHEN 0 THEN NOT type(r) STARTS WITH 'PGS_'
        ELSE type(r) IN $types
      END
  AND CASE size($labels)
        WHEN 0 THEN none(label IN labels(m) WHERE label STARTS WITH 'Pgs')
        ELSE any(label IN labels(m) WHERE label IN $labels)
      END
WITH n, m,
     CASE WHEN NOT $uniform AND r[$weight] IS :: INTEGER | FLOAT THEN toFloat(r[$weight]) END AS raw
WITH n, m,
     CASE
       WHEN raw IS NULL OR isNaN(raw - raw) THEN 1.0  // infinity less infinity is NaN, too
       WHEN raw > 1.0e12 THEN 1.0e12
       WHEN raw > 0.0 AND raw < 1.0e-100 THEN 1.0e-100
       ELSE raw
     END AS weight
WITH n, CASE WHEN weight > 0.0 THEN m END AS m, weight
RETURN gds.graph.project(
  $name, n, m,
  {relationshipProperties: {weight: weight}},
  {undirectedRelationshipTypes: ['*'], readConcurrency: $concurrency}
) AS graph
