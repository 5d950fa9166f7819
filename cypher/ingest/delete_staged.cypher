// Delete some of the staged nodes of a load that will not be finished.
// params: load, limit
// returns: deleted
// mode: data
MATCH (s:PgsStaged {pgs_load: $load})
WITH s LIMIT $limit
DETACH DELETE s
RETURN count(*) AS deleted
