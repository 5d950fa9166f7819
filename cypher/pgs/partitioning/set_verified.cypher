// Record that a generation is still valid as of a change token.
// params: generation: str, token: str?
// returns: generation: str
// mode: write
MATCH (c:PgsGeneration {id: $generation})
SET c.token = $token
RETURN c.id AS generation
