// Make a finished generation the current one: readers see all of the old or all of the new.
// params: graph, generation, properties
// returns: generation
// mode: write
MATCH (c:PgsGeneration {id: $generation})-[:PGS_OF]->(g:PgsGraph {name: $graph})
SET c += $properties, c.status = 'complete', g.fingerprint = $properties.fingerprint
WITH c, g
OPTIONAL MATCH (g)-[old:PGS_CURRENT]->(:PgsGeneration)
DELETE old
WITH DISTINCT c, g
MERGE (g)-[:PGS_CURRENT]->(c)
RETURN c.id AS generation
