// One session; no row if it does not exist.
// params: uid: str
// returns: id: str, graph: graph
// mode: read
MATCH (s:PgsSession {uid: $uid})
RETURN s.id AS id, s.graph AS graph
