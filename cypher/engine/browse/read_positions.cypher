// Where the places of a generation's map stand, as bytes; null before anybody has looked at it.
// params: generation: str
// returns: positions: bytes?
// mode: read
MATCH (c:PgsGeneration {id: $generation})
RETURN c.place AS positions
