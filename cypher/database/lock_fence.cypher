// Lock the token of the last deletion or purge until this transaction ends, and return it.
// returns: token: str?
// mode: write
MATCH (m:PgsMeta {id: 'pgs'})
SET m.checked_at = true REMOVE m.checked_at
WITH m
RETURN m.token AS token
