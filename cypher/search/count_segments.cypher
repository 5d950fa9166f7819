// Count those of some segments that still have a partition. Only segments without one are deleted.
// params: segments: list[str]
// returns: in_use: int
// mode: read
UNWIND $segments AS id
MATCH (s:PgsSegment {id: id})
WHERE (s)<-[:PGS_INDEXED_IN]-()
RETURN count(s) AS in_use
