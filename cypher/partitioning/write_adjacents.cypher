// Link partitions that have relationships in common, as of one generation: two may share both
// partitions, and not how strongly these are bound. No row when it was given up meanwhile.
// params: generation, rows
// returns: written
// mode: write
MATCH (c:PgsGeneration {id: $generation})
SET c.checked_at = datetime()
WITH c WHERE c.status = 'building'
UNWIND $rows AS row
MATCH (a:PgsPartition {uid: row.source})
MATCH (b:PgsPartition {uid: row.target})
MERGE (a)-[l:PGS_ADJACENT {generation: c.id}]->(b)
SET l.edges = row.edges, l.weight = row.weight
RETURN count(*) AS written
