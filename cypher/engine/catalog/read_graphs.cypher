// The stored graphs that a scope can see, by name, with figures of their current generation: the
// graphs of the scope, whose names end with `suffix`, of the scope around its view, whose names end
// with `base`, and those without any scope. `definition` is the mapping that the generation was made
// for.
// The current generation is found as in partitioning/read_current.
// params: suffix: str, base: str
// returns: name: str, mapping: any?, generation: str?, node_count: int?, partition_count: int?,
//   definition: str?
// mode: read
MATCH (g:PgsGraph)
WHERE NOT g.name CONTAINS '~' OR ($suffix <> '' AND g.name ENDS WITH $suffix)
  OR ($base <> '' AND g.name ENDS WITH $base)
CALL (g) {
  OPTIONAL MATCH (g)<-[:PGS_OF]-(c:PgsGeneration {status: 'complete'})
  RETURN c ORDER BY EXISTS { (g)-[:PGS_CURRENT]->(c) } DESC, c.created_at DESC LIMIT 1
}
RETURN g.name AS name, g.mapping AS mapping, c.id AS generation,
       c.node_count AS node_count, c.partition_count AS partition_count,
       c.definition AS definition
ORDER BY name
