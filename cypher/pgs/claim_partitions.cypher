// Claim partitions for a run, so that other runs of its session read different ones. Unless the
// partitions may be `shared`, nothing is claimed if another running run of the session has claimed
// one of them. Runs in `ended` do not count, nor do runs without a sign of life for some seconds.
// Two locks are taken before anything is read: the lock of the session, so that only one run at a
// time claims, and the lock of the run. `updated_at` is the time when a run of the session last
// began or ended. No row if the run was taken over or deleted.
// params: session: str, run: str, holder: str, partitions: list[int], shared: bool,
//   ended: list[str], silent_s: number
// returns: taken: list[int], updated_at: str
// mode: write
MATCH (s:PgsSession {uid: $session})
SET s.checked_at = true REMOVE s.checked_at
WITH s
MATCH (r:PgsRun {id: $run})
SET r.checked_at = true REMOVE r.checked_at
WITH s, r WHERE r.holder = $holder
MATCH (r)-[:PGS_ON]->(c:PgsGeneration)
WITH s, r, c, COLLECT {
  MATCH (s)<-[:PGS_RAN_IN]-(o:PgsRun {status: 'running'})-[:PGS_ON]->(c)
  WHERE o.id <> $run AND NOT $shared AND NOT o.id IN $ended
    AND datetime() - duration({seconds: $silent_s}) <= o.updated_at
      <= datetime() + duration({seconds: $silent_s})
  UNWIND coalesce(o.claimed, []) AS partition
  RETURN partition
} AS others
WITH s, r, [partition IN $partitions WHERE partition IN others] AS taken
FOREACH (_ IN CASE WHEN taken = [] THEN [1] ELSE [] END |
  SET r.claimed = coalesce(r.claimed, [])
                  + [partition IN $partitions WHERE NOT partition IN coalesce(r.claimed, [])]
)
RETURN taken, toString(s.updated_at) AS updated_at
