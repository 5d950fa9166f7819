// The run that an idempotency key was given to.
// params: idempotency
// returns: id
// mode: read
MATCH (r:PgsRun {idempotency: $idempotency})
RETURN r.id AS id
