// Record how a run routed its question; no row if it was taken over or deleted. The run's lock is
// taken before its holder is read.
// params: run: str, holder: str, routing: str
// returns: id: str
// mode: write
MATCH (r:PgsRun {id: $run})
SET r.checked_at = true REMOVE r.checked_at
WITH r WHERE r.holder = $holder
SET r.routing = $routing, r.updated_at = datetime()
RETURN r.id AS id
