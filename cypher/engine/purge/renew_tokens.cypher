// Give those who count their commits a new token before a purge, so that no writer stores anything
// that it began before.
// params: counter: str, token: str
// mode: write
MATCH (m:PgsMeta {id: $counter})
SET m.token = $token
