// Attach nodes to their partitions, each partition whole or not at all. The lists of a row are
// in the order of rank, heaviest first. `hashes` identify the texts of this generation, `facts`
// the weights and embeddings, to detect changes later. A partition that has its members is left
// alone, so that repeating does no harm. No row when the generation was abandoned; its lock is taken
// before its status is read.
// params: generation: str, rows: list[dict]
// returns: generation: str, attached: int
// mode: write
// locks: graph
// sees: links
MATCH (c:PgsGeneration {id: $generation})
SET c.checked_at = datetime()
WITH c WHERE c.status = 'building'
UNWIND $rows AS row
MATCH (p:PgsPartition {uid: row.uid})
CALL (p, row) {
  WITH p, row WHERE p.attached IS NULL
  UNWIND range(0, size(row.nodes) - 1) AS i
  MATCH (n) WHERE id(n) = row.nodes[i] AND none(label IN labels(n) WHERE label STARTS WITH 'Pgs')
  CREATE (n)-[:PGS_IN {rank: i, hash: row.hashes[i], facts: row.facts[i]}]->(p)
  RETURN count(*) AS found
}
SET p.attached = coalesce(p.attached, found)
RETURN c.id AS generation, sum(p.attached) AS attached
