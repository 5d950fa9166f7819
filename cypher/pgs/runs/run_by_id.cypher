// One run with its session and generation; `generation` is null if its partitions are gone.
// `silent`: the run is recorded as running, but has given no sign of life for some seconds, or its
// last sign is dated in the future because of a wrong clock.
// params: run: str, silent_s: number
// returns: run: dict, session: str, graph: graph, generation: str?, current: bool, silent: bool
// mode: read
MATCH (r:PgsRun {id: $run})-[:PGS_RAN_IN]->(s:PgsSession)
OPTIONAL MATCH (r)-[:PGS_ON]->(c:PgsGeneration {status: 'complete'})
RETURN r {.*, started_at: toString(r.started_at), finished_at: toString(r.finished_at),
          updated_at: toString(r.updated_at)} AS run,
       s.id AS session, s.graph AS graph, c.id AS generation,
       c IS NOT NULL AND EXISTS { (:PgsGraph)-[:PGS_CURRENT]->(c) } AS current,
       r.status = 'running' AND NOT datetime() - duration({seconds: $silent_s}) <= r.updated_at
         <= datetime() + duration({seconds: $silent_s}) AS silent
