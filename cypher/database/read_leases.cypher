// The current holder of a graph's lease; no row if the lease is free.
// params: graph
// returns: holder, fence, acquired_at, expires_at
// mode: read
MATCH (l:PgsLease {name: $graph})
WHERE l.holder IS NOT NULL AND l.expires_at > datetime.realtime('Z')
RETURN l.holder AS holder, l.fence AS fence, toString(l.acquired_at) AS acquired_at,
       toString(l.expires_at) AS expires_at
