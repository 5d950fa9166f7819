// Runs of a session without a recorded end; `silent` if a run gave no sign of life for some
// seconds, or only one that a wrong clock dated into the future.
// params: session: str, silent_s: number
// returns: id: str, holder: str, silent: bool
// mode: read
// language: 5, 25
MATCH (:PgsSession {uid: $session})<-[:PGS_RAN_IN]-(r:PgsRun {status: 'running'})
RETURN r.id AS id, coalesce(r.holder, '') AS holder,
       NOT datetime() - duration({seconds: $silent_s}) <= r.updated_at
         <= datetime() + duration({seconds: $silent_s}) AS silent
ORDER BY id
