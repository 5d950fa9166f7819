// The current holder of a graph's lease; no row if the lease is free.
// params: graph: str
// returns: holder: str, fence: int, acquired_at: str, expires_at: str
// mode: read
MATCH (l:PgsLease {name: $graph})
WHERE l.holder IS NOT NULL AND l.expires_at > datetime.realtime('Z')
RETURN l.holder AS holder, l.fence AS fence, toString(l.acquired_at) AS acquired_at,
       toString(l.expires_at) AS expires_at
