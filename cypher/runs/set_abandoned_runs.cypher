// Mark the runs of a session that stopped without a recorded end at least a day ago.
// params: session: str
// returns: marked: int
// mode: write
MATCH (:PgsSession {uid: $session})<-[:PGS_RAN_IN]-(r:PgsRun {status: 'running'})
WHERE r.updated_at < datetime() - duration('P1D')
SET r.status = 'abandoned'
RETURN count(*) AS marked
