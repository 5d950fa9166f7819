// Take a graph's lease away from its holder and discard what it was building. The next fence is
// used up, so that the holder cannot begin anything else. No row if the lease is free.
// params: graph: graph
// returns: holder: str, fence: int, acquired_at: str, expires_at: str, abandoned: int
// mode: write
MATCH (l:PgsLease {name: $graph})
SET l.asked_at = datetime.realtime('Z')
WITH l, l.holder AS holder, l.fence AS fence, toString(l.acquired_at) AS acquired_at,
     toString(l.expires_at) AS expires_at
WHERE holder IS NOT NULL
SET l.holder = null, l.fence = fence + 1, l.expires_at = datetime.realtime('Z')
WITH holder, fence, acquired_at, expires_at
CALL () {
  MATCH (:PgsGraph {name: $graph})<-[:PGS_OF]-(c:PgsGeneration)
  SET c.checked_at = datetime()
  WITH c WHERE c.status = 'building'
  SET c.status = 'abandoned'
  RETURN count(c) AS abandoned
}
RETURN holder, fence, acquired_at, expires_at, abandoned
