// Ranks that a session has read, by partition of a generation, and as `texts` the ranks among them
// that were read with a text. `unproven` are ranks that were only shown without proof, and never
// read. Nodes that were read in this generation count even if they were deleted later. Nodes that
// were read in an older generation count if they still exist with the same text. If `before` is the
// id of a run, only runs that started before it count. `empty` is the hash of the empty text.
// params: session: str, generation: str, before: str, empty: int
// returns: partition: int, ranks: list[int], texts: list[int], unproven: list[int]
// mode: read
// sees: links
OPTIONAL MATCH (this:PgsRun {id: $before})
WITH this.started_at AS began
MATCH (:PgsSession {uid: $session})<-[:PGS_RAN_IN]-(r:PgsRun)-[:PGS_SWEPT]->(w:PgsSweep)-[:PGS_READ]->(p:PgsPartition)
WHERE $before = '' OR r.started_at < began
WITH w, p,
     [i IN range(0, size(w.read_first) - 1) | [w.read_first[i], w.read_last[i], 1]] +
     [i IN range(0, size(w.unproven_first) - 1) | [w.unproven_first[i], w.unproven_last[i], 0]] AS spans,
     EXISTS { (p)-[:PGS_PART_OF]->(:PgsGeneration {id: $generation}) } AS current
CALL (w, p, spans, current) {
  WITH w, p, spans, current
  WHERE current
  WITH w, p, spans, w.without_text +
             COLLECT { MATCH (p)<-[m:PGS_IN]-() WHERE m.hash = $empty RETURN m.rank } AS silent
  UNWIND spans AS span
  UNWIND range(span[0], span[1] - 1) AS rank
  RETURN p.id AS partition, rank, NOT rank IN silent AS text, span[2] = 1 AS proven
  UNION ALL
  WITH w, p, spans, current
  WHERE NOT current
  MATCH (p)<-[m:PGS_IN]-(n)
  WITH w, m, n, [span IN spans WHERE span[0] <= m.rank < span[1] | span[2]] AS held
  WHERE size(held) > 0
  MATCH (n)-[now:PGS_IN]->(c:PgsPartition)-[:PGS_PART_OF]->(:PgsGeneration {id: $generation})
  WHERE now.hash = m.hash
  RETURN c.id AS partition, now.rank AS rank,
         m.hash <> $empty AND NOT m.rank IN w.without_text AS text, 1 IN held AS proven
}
WITH partition, rank, max(proven) AS proven, max(text AND proven) AS text
RETURN partition, collect(CASE WHEN proven THEN rank END) AS ranks,
       collect(CASE WHEN text THEN rank END) AS texts,
       collect(CASE WHEN NOT proven THEN rank END) AS unproven
ORDER BY partition
