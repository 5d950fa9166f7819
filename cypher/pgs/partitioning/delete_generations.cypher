// Delete generations with the links that they made between partitions that other generations
// share. Partitions that no other generation shares are deleted and their members detached.
// params: generations: list[str]
// mode: write
// locks: graph
// sees: links
MATCH (c:PgsGeneration) WHERE c.id IN $generations
CALL (c) {
  MATCH (c)<-[:PGS_PART_OF]-(:PgsPartition)-[l:PGS_ADJACENT {generation: c.id}]->()
  DELETE l
}
OPTIONAL MATCH (c)<-[:PGS_PART_OF]-(p:PgsPartition)
WHERE NOT EXISTS { (p)-[:PGS_PART_OF]->(o:PgsGeneration) WHERE NOT o.id IN $generations }
DETACH DELETE c, p
