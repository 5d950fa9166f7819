// The run of a session with one of these idempotency keys, the first one that there is.
// params: session: str, idempotencies: list[str]
// returns: id: str
// mode: read
// language: 5, 25
UNWIND range(0, size($idempotencies) - 1) AS place
MATCH (r:PgsRun {idempotency: $idempotencies[place]})-[:PGS_RAN_IN]->(:PgsSession {uid: $session})
RETURN r.id AS id
ORDER BY place
LIMIT 1
