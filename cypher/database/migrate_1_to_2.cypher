// What the first schema's partitions lack: their level, an identity across generations, and as of
// which generation they are adjacent.
// params:
// returns:
// mode: write
MATCH (p:PgsPartition) WHERE p.level IS NULL
SET p.level = 0, p.lineage = p.uid
WITH p
MATCH (p)-[:PGS_PART_OF]->(c:PgsGeneration)
MATCH (p)-[l:PGS_ADJACENT]->()
SET l.generation = c.id
