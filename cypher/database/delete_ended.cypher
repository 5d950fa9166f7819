// Forget what ended deletions have searched for, a few of them. It stays while a run, a job, or the
// holder of a lease is in progress that began before their end, because it may still write what it
// has read.
// params: silent_s: number, most: int
// returns: deleted: int
// mode: write
MATCH (d:PgsDeletion) WHERE d.ended_at IS NOT NULL
WITH collect(d) AS ended WHERE ended <> []
CALL () {
  OPTIONAL MATCH (r:PgsRun {status: 'running'})
  WHERE r.updated_at > datetime() - duration({seconds: $silent_s})
  RETURN collect(r.started_at) AS runs
}
CALL () {
  OPTIONAL MATCH (j:PgsJob {outcome: 'running'})
  WHERE j.updated_at > datetime() - duration({seconds: $silent_s})
  RETURN collect(j.started_at) AS jobs
}
CALL () {
  OPTIONAL MATCH (l:PgsLease) WHERE l.holder IS NOT NULL AND l.expires_at > datetime()
  RETURN collect(l.acquired_at) AS leases
}
UNWIND ended AS d
WITH d WHERE none(began IN runs + jobs + leases WHERE began <= d.ended_at)
WITH d LIMIT $most
DETACH DELETE d
RETURN count(*) AS deleted
