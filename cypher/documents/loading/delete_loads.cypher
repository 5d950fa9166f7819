// Forget a load that did not finish.
// params: load: str
// returns: deleted: int
// mode: write
MATCH (l:PgsLoad {load: $load})
WHERE l.finished_at IS NULL
DELETE l
RETURN count(*) AS deleted
