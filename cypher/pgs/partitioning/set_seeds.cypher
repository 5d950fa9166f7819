// Mark the partitions of a generation, and no other, with a label of their graph, so that GDS can
// read which nodes belonged together. Pools are left out: nothing ties their nodes together.
// params: generation: str, label: str
// returns: marked: int
// mode: write
CALL () {
  MATCH (old:$($label)) REMOVE old:$($label)
  RETURN count(*) AS removed
}
MATCH (:PgsGeneration {id: $generation})<-[:PGS_PART_OF]-(p:PgsPartition)
WHERE p.level = 0 AND NOT p.pool
SET p:$($label)
RETURN count(*) AS marked
