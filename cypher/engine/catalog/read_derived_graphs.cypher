// What scopes and views have made of a graph: the names of their graphs, with the ids of their
// sessions.
// params: name: graph
// returns: stored: str, sessions: list[str]
// mode: read
MATCH (g:PgsGraph)
WHERE g.base = $name AND g.mapping IS NULL
RETURN g.name AS stored, COLLECT { MATCH (s:PgsSession {graph: g.name}) RETURN s.uid } AS sessions
ORDER BY stored
