// The run with an idempotency key, which belongs to one session only.
// params: idempotency: str
// returns: id: str
// mode: read
MATCH (r:PgsRun {idempotency: $idempotency})
RETURN r.id AS id
