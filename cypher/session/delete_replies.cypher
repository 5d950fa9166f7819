// Delete all replies.
// params:
// returns:
// mode: batch
MATCH (r:PgsReply)
CALL (r) { DELETE r } IN TRANSACTIONS OF 1000 ROWS
