// Runs of a session, oldest first, each with its sweeps by partition.
// params: uid: str
// returns: run: dict, sweeps: list[dict]
// mode: read
MATCH (:PgsSession {uid: $uid})<-[:PGS_RAN_IN]-(r:PgsRun)
RETURN r {.*, started_at: toString(r.started_at), finished_at: toString(r.finished_at),
          updated_at: toString(r.updated_at), details: null, config: null, request: null,
          routing: null, known: null, holder: null} AS run,
       COLLECT {
         MATCH (r)-[:PGS_SWEPT]->(w:PgsSweep)
         RETURN w {.partition, .status, .nodes, .nodes_read, .passes} ORDER BY w.partition
       } AS sweeps
ORDER BY r.started_at, r.id
