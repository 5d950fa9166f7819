// Link findings and flags to the nodes that they cite.
// params: partition, rows
// returns: written
// mode: write
UNWIND $rows AS row
MATCH (:PgsPartition {uid: $partition})<-[m:PGS_IN {rank: row.rank}]-(n)
MATCH (f:PgsFinding|PgsFlag {id: row.id})
MERGE (f)-[c:PGS_CITES]->(n)
SET c.alias = row.alias
RETURN count(*) AS written
