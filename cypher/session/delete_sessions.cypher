// Delete a session with its runs, sweeps, findings, flags, and absences.
// params: uid
// returns: deleted
// mode: write
MATCH (s:PgsSession {uid: $uid})
OPTIONAL MATCH (s)<-[:PGS_RAN_IN]-(r:PgsRun)
OPTIONAL MATCH (r)-[:PGS_SWEPT]->(w:PgsSweep)
OPTIONAL MATCH (w)<-[:PGS_FROM]-(f:PgsFinding|PgsFlag|PgsAbsence)
DETACH DELETE s, r, w, f
RETURN count(DISTINCT s) AS deleted
