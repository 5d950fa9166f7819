// Detach the nodes of some partitions.
// params: uids
// returns: deleted
// mode: write
UNWIND $uids AS uid
MATCH (:PgsPartition {uid: uid})<-[m:PGS_IN]-()
DELETE m
RETURN count(m) AS deleted
