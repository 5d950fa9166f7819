// The holder that has not given a lease back, whether it runs still or not; else no row.
// params: graph
// returns: holder
// mode: read
MATCH (l:PgsLease {name: $graph})
WHERE l.holder IS NOT NULL
RETURN l.holder AS holder
