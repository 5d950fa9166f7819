// The summary of the relationships that a generation was made of.
// params: generation: str
// returns: sketch: list[int]
// mode: read
MATCH (c:PgsGeneration {id: $generation})
RETURN c.sketch AS sketch
