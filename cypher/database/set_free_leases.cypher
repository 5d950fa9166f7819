// Release a lease if this holder still has it. The fence stays, so that no number repeats.
// params: graph: graph, holder: str
// returns: fence: int
// mode: write
MATCH (l:PgsLease {name: $graph})
SET l.asked_at = datetime.realtime('Z')
WITH l WHERE l.holder = $holder
SET l.holder = null, l.expires_at = datetime.realtime('Z')
RETURN l.fence AS fence
