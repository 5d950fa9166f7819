// Put units of one level of the hierarchy under those of the level above.
// params: rows: list[dict]
// returns: written: int
// mode: write
UNWIND $rows AS row
MATCH (p:PgsPartition {uid: row.child})
MATCH (q:PgsPartition {uid: row.parent})
MERGE (p)-[:PGS_PARENT]->(q)
RETURN count(*) AS written
