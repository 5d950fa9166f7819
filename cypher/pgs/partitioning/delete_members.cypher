// Detach the nodes of some partitions.
// params: uids: list[str]
// returns:
// mode: write
// language: 5, 25
// locks: graph
UNWIND $uids AS uid
MATCH (:PgsPartition {uid: uid})<-[m:PGS_IN]-()
DELETE m
