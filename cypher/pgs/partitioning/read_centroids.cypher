// The centroids of partitions.
// params: uids: list[str]
// returns: uid: str, centroid: list[float]?
// mode: read
UNWIND $uids AS uid
MATCH (p:PgsPartition {uid: uid})
RETURN uid, p.centroid AS centroid
