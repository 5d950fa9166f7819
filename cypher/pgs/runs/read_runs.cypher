// Runs of a session, oldest first, each with its sweeps sorted by partition. `definition` is the
// mapping that the graph of the run had then; it is null if its partitions are gone or it had none.
// params: uid: str
// returns: run: dict, sweeps: list[dict], definition: str?
// mode: read
MATCH (:PgsSession {uid: $uid})<-[:PGS_RAN_IN]-(r:PgsRun)
RETURN r {.*, started_at: toString(r.started_at), finished_at: toString(r.finished_at),
          updated_at: toString(r.updated_at), details: null, config: null, request: null,
          routing: null, known: null, holder: null, tally: null,
          claimed: null} AS run,
       COLLECT {
         MATCH (r)-[:PGS_SWEPT]->(w:PgsSweep)
         RETURN w {.partition, .status, .nodes, .nodes_read, .nodes_unproven, .passes} ORDER BY w.partition
       } AS sweeps,
       head([(r)-[:PGS_ON]->(c:PgsGeneration) | c.definition]) AS definition
ORDER BY r.started_at, r.id
