// Write the answer of a run as nodes with links to their evidence, and replace an earlier answer.
// No row if the run was taken over or deleted. The lock of the run is taken before its holder is
// read.
// params: run: str, holder: str, generation: str, thesis: dict, connections: list[dict],
//   convergences: list[dict], joins: list[dict], absences: list[dict], citations: list[dict],
//   sightings: list[dict]
// returns: id: str
// mode: write
// locks: graph
// sees: links
MATCH (r:PgsRun {id: $run})
SET r.checked_at = true REMOVE r.checked_at
WITH r WHERE r.holder = $holder
SET r.updated_at = datetime()
WITH r
CALL (r) {
  MATCH (old:PgsThesis|PgsConnection|PgsConvergence)-[:PGS_FROM]->(r)
  DETACH DELETE old
}
MERGE (t:PgsThesis {id: $thesis.id})
SET t.text = $thesis.text
MERGE (t)-[:PGS_FROM]->(r)
FOREACH (row IN $connections |
  MERGE (k:PgsConnection {id: row.id}) SET k.text = row.text, k.place = row.place
  MERGE (k)-[:PGS_FROM]->(r))
FOREACH (row IN $convergences |
  MERGE (v:PgsConvergence {id: row.id}) SET v.text = row.text, v.place = row.place, v.kind = row.kind
  MERGE (v)-[:PGS_FROM]->(r))
WITH r
CALL () {
  UNWIND $joins AS row
  MATCH (v:PgsConvergence {id: row.id}), (f:PgsFinding {id: row.finding})
  MERGE (v)-[:PGS_JOINS]->(f)
}
CALL () {
  UNWIND $absences AS row
  MATCH (a:PgsAbsence {id: row.id})
  SET a.status = row.status, a.terms = row.terms, a.searched = row.searched, a.method = row.method,
      a.count = row.count, a.partitions = row.partitions, a.texts = row.texts
  WITH a
  MATCH (a)-[old:PGS_SEEN_IN]->()
  DELETE old
}
CALL () {
  UNWIND $citations AS row
  MATCH (:PgsGeneration {id: $generation})<-[:PGS_PART_OF]-(p:PgsPartition {id: row.partition})
  WHERE p.level = 0
  MATCH (p)<-[:PGS_IN {rank: row.rank}]-(n)
  MATCH (s:PgsThesis|PgsConnection|PgsConvergence {id: row.id})
  MERGE (s)-[c:PGS_CITES {alias: row.alias, partition: row.partition}]->(n)
  SET c.rank = row.rank
}
CALL () {
  UNWIND $sightings AS row
  MATCH (:PgsGeneration {id: $generation})<-[:PGS_PART_OF]-(p:PgsPartition {id: row.partition})
  WHERE p.level = 0
  MATCH (p)<-[:PGS_IN {rank: row.rank}]-(n)
  MATCH (a:PgsAbsence {id: row.id})
  MERGE (a)-[:PGS_SEEN_IN]->(n)
}
RETURN r.id AS id
