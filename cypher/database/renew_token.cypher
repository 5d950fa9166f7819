// Give the database a new token for deletions that have none yet, so that no writer stores what it
// read before. They say which token theirs has replaced.
// params: token: str, deletions: list[str]
// returns: former: str
// mode: write
MATCH (m:PgsMeta {id: 'pgs'})
SET m.checked_at = true REMOVE m.checked_at
WITH m
MATCH (d:PgsDeletion) WHERE d.uid IN $deletions AND d.token IS NULL
WITH m, coalesce(m.token, '') AS former, collect(d) AS begun
SET m.token = $token
FOREACH (d IN begun | SET d.token = $token, d.former = former)
RETURN former
