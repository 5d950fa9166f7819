// Record how a run routed its question.
// params: run: str, holder: str, routing: str
// returns: id: str
// mode: write
MATCH (r:PgsRun {id: $run, holder: $holder})
SET r.routing = $routing, r.updated_at = datetime()
RETURN r.id AS id
