// Delete a session with its runs, sweeps, findings, flags, absences, and answers, with its private
// and rejected replies, and with the triplets that only its runs showed and that no outcome has
// rated.
// params: uid: str
// returns: deleted: int
// mode: write
// locks: graph
MATCH (s:PgsSession {uid: $uid})
CALL (s) {
  MATCH (s)<-[:PGS_RAN_IN]-(r:PgsRun)
  CALL (s, r) {
    MATCH (y:PgsReply {run: r.id}) WHERE y.private OR y.error IS NOT NULL
    RETURN y AS own
    UNION
    MATCH (t:PgsThesis|PgsConnection|PgsConvergence|PgsFinding)-[:PGS_FROM]->(r)
    RETURN t AS own
    UNION
    MATCH (r)-[:PGS_SHOWED]->(t:PgsTriplet)
    WHERE t.count IS NULL
      AND NOT EXISTS { (t)<-[:PGS_SHOWED]-(:PgsRun)-[:PGS_RAN_IN]->(o:PgsSession) WHERE o <> s }
    RETURN t AS own
    UNION
    MATCH (r)-[:PGS_SWEPT]->(w:PgsSweep)
    RETURN w AS own
    UNION
    MATCH (r)-[:PGS_SWEPT]->(:PgsSweep)<-[:PGS_FROM]-(f:PgsFinding|PgsFlag|PgsAbsence)
    RETURN f AS own
  }
  WITH r, collect(own) AS parts
  FOREACH (part IN parts | DETACH DELETE part)
}
OPTIONAL MATCH (s)<-[:PGS_RAN_IN]-(r:PgsRun)
WITH s, collect(r) AS runs
FOREACH (each IN runs | DETACH DELETE each)
DETACH DELETE s
RETURN count(*) AS deleted
