// Begin a generation: it is being built and nobody sees it yet.
// params: graph, id, properties
// returns: id
// mode: write
MATCH (g:PgsGraph {name: $graph})
MERGE (c:PgsGeneration {id: $id})
SET c += $properties, c.status = 'building', c.created_at = coalesce(c.created_at, datetime())
MERGE (c)-[:PGS_OF]->(g)
RETURN c.id AS id
