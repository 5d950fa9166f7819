// The partitions, of those named, that are in no segment of the text index.
// params: uids: list[str]
// returns: uids: list[str]
// mode: read
// language: 5, 25
UNWIND $uids AS uid
MATCH (p:PgsPartition {uid: uid}) WHERE NOT (p)-[:PGS_INDEXED_IN]->()
RETURN collect(uid) AS uids
