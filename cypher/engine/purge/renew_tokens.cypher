// Give those who count their commits a new token before a purge, so that no writer stores anything
// that it began before.
// params: counter: str, token: str
// returns:
// mode: write
// language: 5, 25
MATCH (m:PgsMeta {id: $counter})
SET m.token = $token
