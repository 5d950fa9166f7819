// Note whether the prompts of stored replies are known to have been read as a whole.
// params: replies: list[dict]
// returns: settled: int
// mode: write
UNWIND $replies AS row
MATCH (r:PgsReply {key: row.key})
SET r.proven = row.proven
RETURN count(r) AS settled
