// The current holder of a graph's lease; no row if the lease is free or has expired, as
// `merge_leases` judges it.
// params: graph: str, longest: number
// returns: holder: str, fence: int, acquired_at: str, expires_at: str
// mode: read
// language: 5, 25
MATCH (l:PgsLease {name: $graph})
WITH l, datetime.realtime('Z') AS now
WHERE l.holder IS NOT NULL AND l.expires_at > now
  AND l.expires_at <= now + duration({seconds: $longest})
RETURN l.holder AS holder, l.fence AS fence, toString(l.acquired_at) AS acquired_at,
       toString(l.expires_at) AS expires_at
