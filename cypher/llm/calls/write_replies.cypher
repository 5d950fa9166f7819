// Store replies.
// params: replies: list[dict]
// returns: kept: int
// mode: write
UNWIND $replies AS row
MERGE (r:PgsReply {key: row.key})
ON CREATE SET r.created_at = datetime()
SET r += row, r.used_at = datetime()
RETURN count(r) AS kept
