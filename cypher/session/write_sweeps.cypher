// Record one sweep with its findings, flags, and absences, and the nodes that they cite, in
// one transaction the moment it ended. No row when the run or the partition is gone.
// params: run, generation, partition, sweep, findings, flags, absences, citations
// returns: id
// mode: write
MATCH (r:PgsRun {id: $run})
MATCH (:PgsGeneration {id: $generation})<-[:PGS_PART_OF]-(p:PgsPartition)
WHERE p.level = 0 AND p.id = $partition
MERGE (w:PgsSweep {id: $sweep.id})
SET w += $sweep, r.updated_at = datetime()
MERGE (r)-[s:PGS_SWEPT]->(w)
SET s.status = $sweep.status
MERGE (w)-[:PGS_READ]->(p)
FOREACH (row IN $findings |
  MERGE (f:PgsFinding {id: row.id}) SET f.text = row.text, f.place = row.place
  MERGE (f)-[:PGS_FROM]->(w))
FOREACH (row IN $flags |
  MERGE (f:PgsFlag {id: row.id}) SET f.text = row.text, f.place = row.place, f.target = row.target
  MERGE (f)-[:PGS_FROM]->(w))
FOREACH (row IN $absences |
  MERGE (a:PgsAbsence {id: row.id}) SET a.text = row.text, a.place = row.place
  MERGE (a)-[:PGS_FROM]->(w))
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
