// Take the lease of a graph if it is free, expired, or already this holder's. A lease that ends
// later than the `longest` one could was written by a wrong clock and has expired, and so has one
// without a time. Discard what the previous holder was building. No row if the graph does not exist.
// The node's lock is taken before any of its data is read, and the clock is read after that. So a
// statement that waited for the lock judges by the time at which it got the lock. Fences start from
// the time, so that they never repeat when a graph is removed and added again.
// params: graph: graph, holder: str, seconds: number, longest: number
// returns: taken: bool, holder: str, fence: int, acquired_at: str, expires_at: str, abandoned: int
// mode: write
MATCH (g:PgsGraph {name: $graph})
MERGE (l:PgsLease {name: $graph})
SET l.asked_at = datetime.realtime('Z')
WITH g, l, datetime.realtime('Z') AS now
WITH g, l, now, coalesce(l.holder = $holder, false) AS ours
WITH g, l, now, ours,
     ours OR l.holder IS NULL
     OR NOT coalesce(now < l.expires_at <= now + duration({seconds: $longest}), false) AS taken
FOREACH (_ IN CASE WHEN taken AND NOT ours THEN [1] ELSE [] END |
  SET l.holder = $holder, l.acquired_at = now, l.fence = coalesce(l.fence, now.epochSeconds) + 1
)
FOREACH (_ IN CASE WHEN taken THEN [1] ELSE [] END |
  SET l.expires_at = now + duration({seconds: $seconds})
)
WITH g, l, taken
CALL (g, taken) {
  MATCH (g)<-[:PGS_OF]-(c:PgsGeneration) WHERE taken
  SET c.checked_at = datetime()
  WITH c WHERE c.status = 'building'
  SET c.status = 'abandoned'
  RETURN count(c) AS abandoned
}
RETURN taken, l.holder AS holder, l.fence AS fence, toString(l.acquired_at) AS acquired_at,
       toString(l.expires_at) AS expires_at, abandoned
