// Ranks that a session has read, per partition of a generation, and those of them that were read
// with a text. Nodes of this generation count even if they were deleted after they were read; nodes
// read in an older generation count if they still exist with the same text. With a run's id as
// `before`, only runs that started before it count. `empty` is the hash of no text.
// params: session: str, generation: str, before: str, empty: int
// returns: partition: int, ranks: list[int], texts: list[int]
// mode: read
// language: 5, 25
OPTIONAL MATCH (this:PgsRun {id: $before})
WITH this.started_at AS began
MATCH (:PgsSession {uid: $session})<-[:PGS_RAN_IN]-(r:PgsRun)-[:PGS_SWEPT]->(w:PgsSweep)-[:PGS_READ]->(p:PgsPartition)
WHERE $before = '' OR r.started_at < began
WITH w, p, EXISTS { (p)-[:PGS_PART_OF]->(:PgsGeneration {id: $generation}) } AS current
CALL (w, p, current) {
  WITH w, p, current
  WHERE current
  WITH w, p, w.without_text +
             COLLECT { MATCH (p)<-[m:PGS_IN]-() WHERE m.hash = $empty RETURN m.rank } AS silent
  UNWIND range(0, size(w.read_first) - 1) AS i
  UNWIND range(w.read_first[i], w.read_last[i] - 1) AS rank
  RETURN p.id AS partition, rank, NOT rank IN silent AS text
  UNION ALL
  WITH w, p, current
  WHERE NOT current
  MATCH (p)<-[m:PGS_IN]-(n)
  WHERE any(i IN range(0, size(w.read_first) - 1)
            WHERE w.read_first[i] <= m.rank < w.read_last[i])
  MATCH (n)-[now:PGS_IN]->(c:PgsPartition)-[:PGS_PART_OF]->(:PgsGeneration {id: $generation})
  WHERE now.hash = m.hash
  RETURN c.id AS partition, now.rank AS rank,
         m.hash <> $empty AND NOT m.rank IN w.without_text AS text
}
RETURN partition, collect(DISTINCT rank) AS ranks,
       collect(DISTINCT CASE WHEN text THEN rank END) AS texts
ORDER BY partition
