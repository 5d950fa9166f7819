// Detach all nodes from the partitions of some generations, in batches.
// params: generations
// returns:
// mode: batch
MATCH (c:PgsGeneration)<-[:PGS_PART_OF]-(p:PgsPartition)<-[m:PGS_IN]-()
WHERE c.id IN $generations
CALL (m) { DELETE m } IN TRANSACTIONS OF 20000 ROWS
