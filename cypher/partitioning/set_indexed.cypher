// Record that all partitions of a generation have a text index.
// params: generation: str
// returns: generation: str
// mode: write
// language: 5, 25
MATCH (c:PgsGeneration {id: $generation})
SET c.indexed = true
RETURN c.id AS generation
