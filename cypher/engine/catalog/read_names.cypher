// Names that completion offers, of one scope: graphs by name, sessions and runs with the latest first.
// params: limit: int, suffix: str
// returns: graphs: list[str], sessions: list[str], runs: list[str]
// mode: read
RETURN
  COLLECT {
    MATCH (g:PgsGraph) WHERE NOT g.name CONTAINS '~' OR ($suffix <> '' AND g.name ENDS WITH $suffix)
    WITH DISTINCT split(g.name, '~')[0] AS name
    RETURN name ORDER BY name LIMIT $limit
  } AS graphs,
  COLLECT {
    MATCH (s:PgsSession)
    WHERE CASE $suffix WHEN '' THEN NOT s.graph CONTAINS '~' ELSE s.graph ENDS WITH $suffix END
    WITH s.id AS id, max(s.updated_at) AS used_at
    ORDER BY used_at DESC, id LIMIT $limit
    RETURN id
  } AS sessions,
  COLLECT {
    MATCH (r:PgsRun)-[:PGS_RAN_IN]->(s:PgsSession)
    WHERE CASE $suffix WHEN '' THEN NOT s.graph CONTAINS '~' ELSE s.graph ENDS WITH $suffix END
    RETURN r.id ORDER BY r.started_at DESC LIMIT $limit
  } AS runs
