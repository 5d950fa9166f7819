// One session; no row if it does not exist.
// params: uid
// returns: id, graph
// mode: read
MATCH (s:PgsSession {uid: $uid})
RETURN s.id AS id, s.graph AS graph
