// Runs of a session without a recorded end, with the partitions that they have claimed. `silent`:
// the run has given no sign of life for some seconds, or its last sign is dated in the future
// because of a wrong clock. `updated_at` is the time when a run of the session last began or ended.
// params: session: str, silent_s: number
// returns: id: str, holder: str, silent: bool, generation: str?, claimed: list[int],
//   updated_at: str
// mode: read
MATCH (s:PgsSession {uid: $session})<-[:PGS_RAN_IN]-(r:PgsRun {status: 'running'})
OPTIONAL MATCH (r)-[:PGS_ON]->(c:PgsGeneration)
RETURN r.id AS id, r.holder AS holder,
       NOT datetime() - duration({seconds: $silent_s}) <= r.updated_at
         <= datetime() + duration({seconds: $silent_s}) AS silent,
       c.id AS generation, coalesce(r.claimed, []) AS claimed,
       toString(s.updated_at) AS updated_at
ORDER BY id
