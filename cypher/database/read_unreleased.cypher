// The holder that has not released the lease, alive or not; no row without one.
// params: graph: graph
// returns: holder: str
// mode: read
MATCH (l:PgsLease {name: $graph})
WHERE l.holder IS NOT NULL
RETURN l.holder AS holder
