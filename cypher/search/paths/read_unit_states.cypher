// Partitions with the Domain State of the last run that read them, and the units above them in a
// generation, from the lowest level. Names of the sessions of runs begin with `prefix`.
// params: generation: str, prefix: str, partitions: list[int]
// returns: id: int, domain_state: str, run: str, above: list[dict]
// mode: read
UNWIND $partitions AS wanted
MATCH (c:PgsGeneration {id: $generation})<-[:PGS_PART_OF]-(p:PgsPartition {id: wanted, level: 0})
OPTIONAL MATCH (p)<-[:PGS_READ]-(w:PgsSweep)<-[:PGS_SWEPT]-(r:PgsRun)-[:PGS_RAN_IN]->(s:PgsSession)
WHERE w.domain_state <> '' AND s.id STARTS WITH $prefix
WITH c, p, w, r ORDER BY r.started_at DESC, r.id DESC
WITH c, p, head(collect({state: w.domain_state, run: r.id})) AS last
RETURN p.id AS id, coalesce(last.state, '') AS domain_state, coalesce(last.run, '') AS run,
       [(p)-[:PGS_PARENT*1..]->(q)-[:PGS_PART_OF]->(c) | q {.id, .level, .label, .titles, .size}] AS above
ORDER BY id
