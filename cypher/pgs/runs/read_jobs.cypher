// Job records of the graphs of one scope, whose names end with `suffix`, newest first. An empty
// list of graphs means all of these graphs.
// params: graphs: list[graph], silent_s: number, limit: int, suffix: str
// returns: graph: graph, job: dict
// mode: read
MATCH (j:PgsJob)
WHERE CASE $suffix WHEN '' THEN NOT j.graph CONTAINS '~' ELSE j.graph ENDS WITH $suffix END
  AND ($graphs = [] OR j.graph IN $graphs)
WITH j ORDER BY j.started_at DESC, j.id DESC
LIMIT $limit
RETURN j.graph AS graph, j {
  .id, .kind, .outcome, .drift, .generation, .figures, .error, .holder, .options,
  started_at: toString(j.started_at), finished_at: toString(j.finished_at),
  silent: j.outcome = 'running'
          AND NOT datetime.realtime('Z') - duration({seconds: $silent_s}) <= j.updated_at
            <= datetime.realtime('Z') + duration({seconds: $silent_s})
} AS job
ORDER BY j.started_at DESC, j.id DESC
