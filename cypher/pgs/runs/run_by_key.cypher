// The run under an idempotency key, which no two sessions share.
// params: idempotency: str
// returns: id: str
// mode: read
// language: 5, 25
MATCH (r:PgsRun {idempotency: $idempotency})
RETURN r.id AS id
