// Mark the runs of a session that stopped without a recorded end at least a day ago. Each run is
// locked before it is judged, because another process may be resuming it.
// params: session: str
// returns: marked: int
// mode: write
MATCH (:PgsSession {uid: $session})<-[:PGS_RAN_IN]-(r:PgsRun {status: 'running'})
WHERE r.updated_at < datetime() - duration('P1D')
SET r.checked_at = true REMOVE r.checked_at
WITH r WHERE r.status = 'running' AND r.updated_at < datetime() - duration('P1D')
SET r.status = 'abandoned'
RETURN count(*) AS marked
