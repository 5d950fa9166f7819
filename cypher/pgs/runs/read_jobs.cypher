// Job records, newest first; an empty list of graphs means all graphs.
// params: graphs: list[str], silent_s: number, limit: int
// returns: job: dict
// mode: read
MATCH (j:PgsJob)
WHERE $graphs = [] OR j.graph IN $graphs
WITH j ORDER BY j.started_at DESC, j.id DESC
LIMIT $limit
RETURN j {
  .id, .graph, .kind, .outcome, .drift, .generation, .figures, .error, .holder, .options,
  started_at: toString(j.started_at), finished_at: toString(j.finished_at),
  silent: j.outcome = 'running'
          AND NOT datetime.realtime('Z') - duration({seconds: $silent_s}) <= j.updated_at
            <= datetime.realtime('Z') + duration({seconds: $silent_s})
} AS job
ORDER BY j.started_at DESC, j.id DESC
