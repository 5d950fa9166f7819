// The token of the last deletion or purge, with what each deletion searches for that has not ended,
// or that a run in progress may still have to know. `former` is the token that its own replaced. No
// row if there is no schema.
// returns: token: str?, raised: str?, former: str?, runs: bytes?, sizes: list[int]?, ended: bool
// mode: read
MATCH (m:PgsMeta {id: 'pgs'})
OPTIONAL MATCH (d:PgsDeletion)
RETURN m.token AS token, d.token AS raised, d.former AS former, d.runs AS runs, d.sizes AS sizes,
       d.ended_at IS NOT NULL AS ended
