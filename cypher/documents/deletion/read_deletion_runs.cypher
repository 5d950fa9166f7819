// What a deletion whose search has not ended searches for.
// params: uid: str
// returns: runs: bytes, sizes: list[int]
// mode: read
MATCH (d:PgsDeletion {uid: $uid})
RETURN d.runs AS runs, d.sizes AS sizes
