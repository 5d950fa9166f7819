// Delete some of the staged nodes of a load that will not be finished.
// params: load: str, limit: int
// returns: deleted: int
// mode: data
MATCH (s:PgsStaged {pgs_load: $load})
WITH s LIMIT $limit
DETACH DELETE s
RETURN count(*) AS deleted
