// Link partitions that share relationships, as of one generation: two generations may share both
// partitions, but not the strength of the link. No row when the generation was abandoned.
// params: generation: str, rows: list[dict]
// returns: written: int
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
