// The record of one job.
// params: id: str, silent_s: number
// returns: graph: graph, job: dict
// mode: read
MATCH (j:PgsJob {id: $id})
RETURN j.graph AS graph, j {
  .id, .kind, .outcome, .drift, .generation, .figures, .error, .holder, .options,
  started_at: toString(j.started_at), finished_at: toString(j.finished_at),
  silent: j.outcome = 'running'
          AND NOT datetime.realtime('Z') - duration({seconds: $silent_s}) <= j.updated_at
            <= datetime.realtime('Z') + duration({seconds: $silent_s})
} AS job
