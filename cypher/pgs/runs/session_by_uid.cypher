// One session; no row if it does not exist.
// params: uid: str
// returns: id: str, graph: str
// mode: read
// language: 5, 25
MATCH (s:PgsSession {uid: $uid})
RETURN s.id AS id, s.graph AS graph
