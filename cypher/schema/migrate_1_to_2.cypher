// What the first schema's partitions lack: their level, and an identity across generations.
// params:
// returns:
// mode: write
MATCH (p:PgsPartition) WHERE p.level IS NULL
SET p.level = 0, p.lineage = p.uid
