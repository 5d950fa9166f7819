// Record one sweep in one transaction: its findings, flags, absences, cited nodes, and replies, and
// what the run has spent by now and on each of `days`, unless a later total is already stored. It
// is repeated with more data when another pass is accepted. No row if the run was taken over or
// deleted, or if the partition is gone. The lock of the run is taken before its holder is read.
// params: run: str, holder: str, generation: str, partition: int, sweep: dict,
//   findings: list[dict], flags: list[dict], absences: list[dict], citations: list[dict],
//   replies: list[dict], spent: dict, days: list[dict]
// returns: id: str
// mode: write
// locks: graph
// sees: links
MATCH (r:PgsRun {id: $run})
SET r.checked_at = true REMOVE r.checked_at
WITH r WHERE r.holder = $holder
MATCH (:PgsGeneration {id: $generation})<-[:PGS_PART_OF]-(p:PgsPartition)
WHERE p.level = 0 AND p.id = $partition
OPTIONAL MATCH (r)-[:PGS_RAN_IN]->(s:PgsSession)
MERGE (w:PgsSweep {id: $sweep.id})
SET w += $sweep, r.updated_at = datetime()
FOREACH (_ IN CASE WHEN coalesce(r.tally, 0) < $spent.tally THEN [1] ELSE [] END |
  SET r += $spent
  FOREACH (row IN $days |
    MERGE (d:PgsSpending {id: row.id})
    SET d += row, d.graph = s.graph, d.session = s.id)
)
MERGE (r)-[e:PGS_SWEPT]->(w)
SET e.status = $sweep.status
MERGE (w)-[:PGS_READ]->(p)
WITH w, p
CALL (w) {
  MATCH (old:PgsFinding|PgsFlag|PgsAbsence)-[:PGS_FROM]->(w)
  DETACH DELETE old
}
FOREACH (row IN $findings |
  MERGE (f:PgsFinding {id: row.id})
  SET f.text = row.text, f.place = row.place, f.supported = row.supported, f.misquoted = row.misquoted,
      f.citations = row.citations, f.quotes = row.quotes,
      f.doubts = row.doubts
  MERGE (f)-[:PGS_FROM]->(w))
FOREACH (row IN $flags |
  MERGE (f:PgsFlag {id: row.id})
  SET f.text = row.text, f.place = row.place, f.target = row.target, f.citations = row.citations
  MERGE (f)-[:PGS_FROM]->(w))
FOREACH (row IN $absences |
  MERGE (a:PgsAbsence {id: row.id}) SET a.text = row.text, a.place = row.place
  MERGE (a)-[:PGS_FROM]->(w))
FOREACH (row IN $replies |
  MERGE (y:PgsReply {key: row.key})
  ON CREATE SET y.created_at = datetime()
  SET y += row, y.used_at = datetime())
WITH w, p
CALL (p) {
  UNWIND $citations AS row
  MATCH (p)<-[:PGS_IN {rank: row.rank}]-(n)
  MATCH (f:PgsFinding|PgsFlag {id: row.id})
  MERGE (f)-[c:PGS_CITES]->(n)
  SET c.alias = row.alias, c.rank = row.rank
  RETURN count(*) AS cited
}
RETURN w.id AS id
