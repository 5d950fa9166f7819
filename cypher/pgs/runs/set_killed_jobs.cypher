// Mark running jobs of a graph as killed if they have given no sign of life for some seconds. Only
// those jobs are locked and then checked again: if all running jobs were locked, jobs that end at
// the same time would wait for each other.
// params: graph: graph, silent_s: number
// returns: ids: list[str]
// mode: write
MATCH (j:PgsJob {graph: $graph, outcome: 'running'})
WHERE NOT datetime.realtime('Z') - duration({seconds: $silent_s}) <= j.updated_at
        <= datetime.realtime('Z') + duration({seconds: $silent_s})
SET j.checked_at = true REMOVE j.checked_at
WITH j WHERE j.outcome = 'running'
         AND NOT datetime.realtime('Z') - duration({seconds: $silent_s}) <= j.updated_at
           <= datetime.realtime('Z') + duration({seconds: $silent_s})
SET j.outcome = 'killed'
RETURN collect(j.id) AS ids
