// Create or update partitions of a generation that is being built. No row when the generation was
// abandoned.
// params: generation: str, rows: list[dict]
// returns: written: int
// mode: write
MATCH (c:PgsGeneration {id: $generation})
SET c.checked_at = datetime()
WITH c WHERE c.status = 'building'
UNWIND $rows AS row
MERGE (p:PgsPartition {uid: row.uid})
SET p += row
MERGE (p)-[:PGS_PART_OF]->(c)
RETURN count(*) AS written
