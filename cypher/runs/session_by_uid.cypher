// One session, no row when there is none.
// params: uid
// returns: id, graph
// mode: read
MATCH (s:PgsSession {uid: $uid})
RETURN s.id AS id, s.graph AS graph
