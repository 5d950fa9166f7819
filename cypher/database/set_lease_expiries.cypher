// Renew a lease from now on; no row if it is gone or has another holder.
// params: graph: graph, holder: str, fence: int, seconds: number
// returns: fence: int
// mode: write
MATCH (l:PgsLease {name: $graph})
SET l.asked_at = datetime.realtime('Z')
WITH l WHERE l.holder = $holder AND l.fence = $fence
SET l.expires_at = datetime.realtime('Z') + duration({seconds: $seconds})
RETURN l.fence AS fence
