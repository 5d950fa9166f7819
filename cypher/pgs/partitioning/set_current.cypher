// Make a finished generation the current one: readers see all of the old or all of the new.
// A generation already made current is left alone, because a repeated call may come too late.
// No row when the generation was abandoned.
// params: graph: graph, generation: str, properties: dict
// returns: generation: str
// mode: write
MATCH (c:PgsGeneration {id: $generation})-[:PGS_OF]->(g:PgsGraph {name: $graph})
SET c.checked_at = datetime()
WITH c, g WHERE c.status IN ['building', 'complete']
CALL (c, g) {
  WITH c, g WHERE c.status = 'building'
  SET c += $properties, c.status = 'complete'
  WITH c, g
  OPTIONAL MATCH (g)-[old:PGS_CURRENT]->(:PgsGeneration)
  DELETE old
  WITH DISTINCT c, g
  MERGE (g)-[:PGS_CURRENT]->(c)
}
RETURN c.id AS generation
