// Delete stored replies to prompts that their server is known by now to have cut.
// params: keys: list[str]
// returns: deleted: int
// mode: write
UNWIND $keys AS wanted
MATCH (r:PgsReply {key: wanted})
DELETE r
RETURN count(*) AS deleted
