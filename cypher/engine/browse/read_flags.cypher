// Flags that sweeps of a session raised, between partitions of a graph's current generation, those
// of the latest run first. Only flags of accepted passes are stored. `chased`: the session has read
// the partition that a flag points to, or a part of it.
// The current generation is found as in partitioning/read_current.
// params: graph: graph, session: str, limit: int
// returns: source: int, target: int, text: str, run: str, chased: bool
// mode: read
MATCH (g:PgsGraph {name: $graph})
CALL (g) {
  MATCH (g)<-[:PGS_OF]-(c:PgsGeneration {status: 'complete'})
  RETURN c ORDER BY EXISTS { (g)-[:PGS_CURRENT]->(c) } DESC, c.created_at DESC LIMIT 1
}
MATCH (s:PgsSession {uid: $session})<-[:PGS_RAN_IN]-(r:PgsRun)-[:PGS_SWEPT]->(w:PgsSweep)
MATCH (w)-[:PGS_READ]->(p:PgsPartition)-[:PGS_PART_OF]->(c)
MATCH (f:PgsFlag)-[:PGS_FROM]->(w)
MATCH (q:PgsPartition {id: f.target})-[:PGS_PART_OF]->(c)
WHERE w.status IN ['accepted', 'partial'] AND p.level = 0 AND q.level = 0 AND p.id <> q.id
WITH r, p, q, f, EXISTS {
  (s)<-[:PGS_RAN_IN]-(:PgsRun)-[:PGS_SWEPT]->(other:PgsSweep)-[:PGS_READ]->(q)
  WHERE other.status IN ['accepted', 'partial']
} AS chased
ORDER BY r.started_at DESC, r.id, p.id, f.place LIMIT $limit
RETURN p.id AS source, q.id AS target, f.text AS text, r.id AS run, chased
