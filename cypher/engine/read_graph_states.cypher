// The state of each graph by name: the age of its current generation, whether a job holds its
// lease, and the drift that a job measured last. `verified` is the change token of the generation.
// The current generation is found as in partitioning/read_current.
// params: longest: number
// returns: graph: str, age_s: float?, nodes: int?, partitions: int?, verified: str?, leased: bool,
//   drift: float?
// mode: read
MATCH (g:PgsGraph)
CALL (g) {
  OPTIONAL MATCH (g)<-[:PGS_OF]-(c:PgsGeneration {status: 'complete'})
  RETURN c ORDER BY EXISTS { (g)-[:PGS_CURRENT]->(c) } DESC, c.created_at DESC LIMIT 1
}
OPTIONAL MATCH (l:PgsLease {name: g.name})
CALL (g) {
  OPTIONAL MATCH (j:PgsJob {graph: g.name})
  WHERE j.drift IS NOT NULL
  RETURN j.drift AS drift
  ORDER BY j.started_at DESC, j.id DESC
  LIMIT 1
}
WITH g, c, l, drift, datetime.realtime('Z') AS now
RETURN g.name AS graph, (now.epochMillis - c.created_at.epochMillis) / 1000.0 AS age_s,
       c.node_count AS nodes, c.partition_count AS partitions, c.token AS verified,
       coalesce(l.holder IS NOT NULL AND l.expires_at > now
                AND l.expires_at <= now + duration({seconds: $longest}), false) AS leased,
       toFloat(drift) AS drift
ORDER BY graph
