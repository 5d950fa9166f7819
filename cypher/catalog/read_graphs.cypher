// All stored graphs by name, with figures of their current generation.
// params:
// returns: name: str, mapping: str, generation: str?, node_count: int?, partition_count: int?
// mode: read
MATCH (g:PgsGraph)
OPTIONAL MATCH (g)-[:PGS_CURRENT]->(c:PgsGeneration)
RETURN g.name AS name, g.mapping AS mapping, c.id AS generation,
       c.node_count AS node_count, c.partition_count AS partition_count
ORDER BY name
