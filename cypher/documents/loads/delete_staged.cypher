// Delete some of the staged nodes of a load that will not be finished.
// params: load: str, limit: int
// returns: deleted: int
// mode: data
// language: 5, 25
MATCH (s:PgsStaged {pgs_load: $load})
WITH s LIMIT $limit
DETACH DELETE s
RETURN count(*) AS deleted
