// Take the lease of a graph when it is free, run out, or this holder's already, and give up what
// the holder before was building. No row when there is no such graph. The node's lock is taken
// before anything of it is read, and the clock is read after that: a statement that waited for
// the lock judges by the time at which it got it. Fences begin with the time, so that those of a
// graph that is removed and added again do not come twice.
// params: graph, holder, seconds
// returns: taken, holder, fence, acquired_at, expires_at, abandoned
// mode: write
MATCH (g:PgsGraph {name: $graph})
MERGE (l:PgsLease {name: $graph})
SET l.asked_at = datetime.realtime('Z')
WITH g, l, datetime.realtime('Z') AS now
WITH g, l, now, coalesce(l.holder = $holder, false) AS ours
WITH g, l, now, ours, ours OR l.holder IS NULL OR l.expires_at <= now AS taken
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
