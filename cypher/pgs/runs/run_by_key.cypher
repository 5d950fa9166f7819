// The run under an idempotency key, which no two sessions share.
// params: idempotency: str
// returns: id: str
// mode: read
MATCH (r:PgsRun {idempotency: $idempotency})
RETURN r.id AS id
