// The summary of the relationships that a generation was made of.
// params: generation
// returns: sketch
// mode: read
MATCH (c:PgsGeneration {id: $generation})
RETURN coalesce(c.sketch, []) AS sketch
