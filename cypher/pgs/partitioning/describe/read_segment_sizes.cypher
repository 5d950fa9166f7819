// The segments of a text index that hold some partitions, with the uids of these partitions and the
// number of their texts. A segment has up to 2^`bits` cells.
// params: uids: list[str]
// returns: id: str, bits: int, texts: int, uids: list[str]
// mode: read
UNWIND $uids AS uid
MATCH (p:PgsPartition {uid: uid})-[:PGS_INDEXED_IN]->(s:PgsSegment)
RETURN s.id AS id, s.bits AS bits, sum(p.size) AS texts, collect(uid) AS uids
ORDER BY texts, id
