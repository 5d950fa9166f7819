// Add what partitions of the first schema lack: a level, an identity across generations, and the
// generation in which they are adjacent.
// params:
// returns:
// mode: write
// language: 5, 25
MATCH (p:PgsPartition) WHERE p.level IS NULL
SET p.level = 0, p.lineage = p.uid
WITH p
MATCH (p)-[:PGS_PART_OF]->(c:PgsGeneration)
MATCH (p)-[l:PGS_ADJACENT]->()
SET l.generation = c.id
