// Mark the running jobs of a graph as killed that have given no sign of life for so long.
// params: graph, silent_s
// returns: ids
// mode: write
MATCH (j:PgsJob {graph: $graph})
SET j.checked_at = datetime.realtime('Z')
WITH j WHERE j.outcome = 'running'
         AND j.updated_at < datetime.realtime('Z') - duration({seconds: $silent_s})
SET j.outcome = 'killed'
RETURN collect(j.id) AS ids
