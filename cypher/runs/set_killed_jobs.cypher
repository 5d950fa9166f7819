// Mark a graph's running jobs as killed if they gave no sign of life for some seconds.
// params: graph: str, silent_s: number
// returns: ids: list[str]
// mode: write
// language: 5, 25
MATCH (j:PgsJob {graph: $graph})
SET j.checked_at = datetime.realtime('Z')
WITH j WHERE j.outcome = 'running'
         AND NOT datetime.realtime('Z') - duration({seconds: $silent_s}) <= j.updated_at
           <= datetime.realtime('Z') + duration({seconds: $silent_s})
SET j.outcome = 'killed'
RETURN collect(j.id) AS ids
