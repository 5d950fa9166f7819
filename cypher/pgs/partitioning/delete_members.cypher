// Detach the nodes of some partitions.
// params: uids: list[str]
// mode: write
// locks: graph
// sees: links
UNWIND $uids AS uid
MATCH (:PgsPartition {uid: uid})<-[m:PGS_IN]-()
DELETE m
