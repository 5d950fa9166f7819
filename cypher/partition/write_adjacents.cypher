// Link partitions that share relationships.
// params: rows
// returns: written
// mode: write
UNWIND $rows AS row
MATCH (a:PgsPartition {uid: row.source})
MATCH (b:PgsPartition {uid: row.target})
MERGE (a)-[l:PGS_ADJACENT]->(b)
SET l.edges = row.edges, l.weight = row.weight
RETURN count(*) AS written
