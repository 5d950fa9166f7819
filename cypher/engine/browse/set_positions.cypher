// Store where the places of a generation's map stand. All who compute it get the same. The
// property has a name that every database knows, since a new one would cost a commit that counts
// as one of another program.
// params: generation: str, positions: bytes
// returns: generation: str
// mode: write
MATCH (c:PgsGeneration {id: $generation, status: 'complete'})
SET c.place = $positions
RETURN c.id AS generation
