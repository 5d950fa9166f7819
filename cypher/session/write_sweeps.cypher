// Record one sweep with its findings, flags, and absences, the moment it ended.
// params: run, partition, sweep, findings, flags, absences
// returns: id
// mode: write
MATCH (r:PgsRun {id: $run})
MATCH (p:PgsPartition {uid: $partition})
MERGE (w:PgsSweep {id: $sweep.id})
SET w += $sweep
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
RETURN w.id AS id
