// End the transactions that carry a tag, and tell how many were still there.
// params: tag
// returns: running
// mode: read
SHOW TRANSACTIONS YIELD transactionId AS id, metaData
WHERE metaData.pgs_call = $tag
TERMINATE TRANSACTIONS id YIELD message
RETURN count(*) AS running
