// Record a sign of life of a run; no row if it was taken over or deleted.
// params: run: str, holder: str
// returns: id: str
// mode: write
MATCH (r:PgsRun {id: $run, holder: $holder})
SET r.updated_at = datetime()
RETURN r.id AS id
