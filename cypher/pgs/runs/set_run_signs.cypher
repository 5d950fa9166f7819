// Record a sign of life of a run. No row if the run was taken over or deleted. The lock of the run
// is taken before its holder is read.
// params: run: str, holder: str
// returns: id: str
// mode: write
MATCH (r:PgsRun {id: $run})
SET r.checked_at = true REMOVE r.checked_at
WITH r WHERE r.holder = $holder
SET r.updated_at = datetime()
RETURN r.id AS id
