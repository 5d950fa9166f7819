// The run with an idempotency key.
// params: idempotency
// returns: id
// mode: read
MATCH (r:PgsRun {idempotency: $idempotency})
RETURN r.id AS id
