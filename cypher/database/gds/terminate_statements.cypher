// End the transactions that carry a tag, and return how many were still running.
// params: tag: str
// returns: running: int
// mode: read
SHOW TRANSACTIONS YIELD transactionId AS id, metaData
WHERE metaData.pgs_call = $tag
TERMINATE TRANSACTIONS id YIELD message
RETURN count(*) AS running
