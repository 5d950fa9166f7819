// The segments of a text index that some partitions are in: the number of their texts there, and
// their uids. `bits` is that of the segment.
// params: uids: list[str]
// returns: id: str, bits: int, texts: int, uids: list[str]
// mode: read
UNWIND $uids AS uid
MATCH (p:PgsPartition {uid: uid})-[:PGS_INDEXED_IN]->(s:PgsSegment)
RETURN s.id AS id, s.bits AS bits, sum(p.size) AS texts, collect(uid) AS uids
ORDER BY texts, id
