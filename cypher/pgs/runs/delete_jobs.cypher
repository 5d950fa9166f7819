// Delete the job records of a graph, except the newest `keep` and the records of running jobs.
// params: graph: graph, keep: int
// returns: deleted: int
// mode: write
MATCH (j:PgsJob {graph: $graph})
WITH j ORDER BY j.started_at DESC, j.id DESC
SKIP $keep
WITH j WHERE j.outcome <> 'running'
DETACH DELETE j
RETURN count(*) AS deleted
