// What scopes have made of a graph without a scope: the names of their graphs, with the ids of their
// sessions.
// params: name: str
// returns: name: str, sessions: list[str]
// mode: read
MATCH (g:PgsGraph)
WHERE g.name STARTS WITH $name + '~' AND g.mapping IS NULL
RETURN g.name AS name, COLLECT { MATCH (s:PgsSession {graph: g.name}) RETURN s.uid } AS sessions
ORDER BY name
