// Link partitions that have relationships in common, as of one generation: two may share both
// partitions, and not how strongly these are bound.
// params: generation, rows
// returns: written
// mode: write
UNWIND $rows AS row
MATCH (a:PgsPartition {uid: row.source})
MATCH (b:PgsPartition {uid: row.target})
MERGE (a)-[l:PGS_ADJACENT {generation: $generation}]->(b)
SET l.edges = row.edges, l.weight = row.weight
RETURN count(*) AS written
