// Ranks read in a session, per partition of a generation. What was read in an older
// generation counts for the nodes that are still there with the same text.
// params: session, generation
// returns: partition, ranks
// mode: read
MATCH (:PgsSession {uid: $session})<-[:PGS_RAN_IN]-(:PgsRun)-[:PGS_SWEPT]->(w:PgsSweep)-[:PGS_READ]->(p:PgsPartition)
MATCH (p)<-[m:PGS_IN]-(n)
WHERE any(i IN range(0, size(w.read_first) - 1)
          WHERE w.read_first[i] <= m.rank < w.read_last[i])
MATCH (n)-[now:PGS_IN]->(c:PgsPartition)-[:PGS_PART_OF]->(:PgsGeneration {id: $generation})
WHERE now.hash = m.hash
RETURN c.id AS partition, collect(DISTINCT now.rank) AS ranks
ORDER BY partition
