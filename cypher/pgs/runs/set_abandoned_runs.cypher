// Mark runs of a session as abandoned if they stopped without a recorded end at least a day ago.
// Each run is locked and checked again, because another process may be resuming it.
// params: session: str
// returns: marked: int
// mode: write
MATCH (:PgsSession {uid: $session})<-[:PGS_RAN_IN]-(r:PgsRun {status: 'running'})
WHERE r.updated_at < datetime() - duration('P1D')
SET r.checked_at = true REMOVE r.checked_at
WITH r WHERE r.status = 'running' AND r.updated_at < datetime() - duration('P1D')
SET r.status = 'abandoned'
RETURN count(*) AS marked
