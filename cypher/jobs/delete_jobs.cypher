// Delete the records of a graph's jobs beyond the newest `keep`; those of running ones stay.
// params: graph, keep
// returns: deleted
// mode: write
MATCH (j:PgsJob {graph: $graph})
WITH j ORDER BY j.started_at DESC, j.id DESC
SKIP $keep
WITH j WHERE j.outcome <> 'running'
DETACH DELETE j
RETURN count(*) AS deleted
