// Create the partitions of a generation that is being built.
// params: generation, rows
// returns: written
// mode: write
MATCH (c:PgsGeneration {id: $generation})
UNWIND $rows AS row
MERGE (p:PgsPartition {uid: row.uid})
SET p += row, p.generation = $generation
MERGE (p)-[:PGS_PART_OF]->(c)
RETURN count(*) AS written
