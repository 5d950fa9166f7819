// Store how many nodes of each partition hold its most frequent words, to label others later.
// params: rows: list[dict]
// returns: written: int
// mode: write
UNWIND $rows AS row
MATCH (p:PgsPartition {uid: row.uid})
SET p.words = row.words
RETURN count(*) AS written
