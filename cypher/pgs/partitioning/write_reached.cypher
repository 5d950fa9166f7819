// Store titles of nodes in neighboring partitions to which a partition's relationships lead. No row
// when the generation was abandoned.
// params: generation: str, rows: list[dict]
// returns: written: int
// mode: write
MATCH (c:PgsGeneration {id: $generation})
SET c.checked_at = datetime()
WITH c WHERE c.status = 'building'
UNWIND $rows AS row
MATCH (:PgsPartition {uid: row.source})-[l:PGS_ADJACENT {generation: c.id}]->
      (:PgsPartition {uid: row.target})
SET l.titles = row.titles
RETURN count(*) AS written
