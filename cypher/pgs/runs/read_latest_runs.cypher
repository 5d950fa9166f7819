// Runs of the graphs of one scope, whose names end with `suffix`, newest first. An empty list of graphs or modes, an empty session, and an empty prefix
// `sessions_of` mean all. With `answered`, only runs that have an answer. `silent`: the run is
// recorded as running, but has given no sign of life for some seconds. A run without `id` has been
// deleted in the meantime.
// params: graphs: list[graph], session: str, sessions_of: str, answered: bool, modes: list[str], silent_s: number, limit: int, suffix: str
// returns: id: str, graph: graph, run: dict
// mode: read
MATCH (r:PgsRun)-[:PGS_RAN_IN]->(s:PgsSession)
WHERE CASE $suffix WHEN '' THEN NOT s.graph CONTAINS '~' ELSE s.graph ENDS WITH $suffix END
  AND ($graphs = [] OR s.graph IN $graphs)
  AND ($session = '' OR s.id = $session)
  AND s.id STARTS WITH $sessions_of
  AND (NOT $answered OR r.details IS NOT NULL)
  AND ($modes = [] OR r.mode IN $modes)
WITH r, s ORDER BY r.started_at DESC, r.id DESC
LIMIT $limit
WITH r.started_at AS started, s.graph AS graph, r {
  .id, .mode, .status, .question, .nodes_read, .nodes_unproven, .nodes_shown, .seconds, .error, .model, .cost, .request,
  .outcome,
  session: s.id, answered: r.details IS NOT NULL,
  started_at: toString(r.started_at), finished_at: toString(r.finished_at),
  silent: r.status = 'running' AND r.updated_at < datetime() - duration({seconds: $silent_s})
} AS run
RETURN run.id AS id, graph, run
ORDER BY started DESC, id DESC
