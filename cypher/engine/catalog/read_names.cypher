// Names that completion offers: graphs by name, sessions and runs with the latest first.
// params: limit: int
// returns: graphs: list[str], sessions: list[str], runs: list[str]
// mode: read
RETURN
  COLLECT { MATCH (g:PgsGraph) RETURN g.name ORDER BY g.name LIMIT $limit } AS graphs,
  COLLECT {
    MATCH (s:PgsSession)
    WITH s.id AS id, max(s.updated_at) AS used_at
    ORDER BY used_at DESC, id LIMIT $limit
    RETURN id
  } AS sessions,
  COLLECT { MATCH (r:PgsRun) RETURN r.id ORDER BY r.started_at DESC LIMIT $limit } AS runs
