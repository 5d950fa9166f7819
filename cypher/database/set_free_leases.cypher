// Give a lease back if it is still this holder's; its fence stays, so that no number comes twice.
// params: graph, holder
// returns: fence
// mode: write
MATCH (l:PgsLease {name: $graph})
SET l.asked_at = datetime.realtime('Z')
WITH l WHERE l.holder = $holder
SET l.holder = null, l.expires_at = datetime.realtime('Z')
RETURN l.fence AS fence
