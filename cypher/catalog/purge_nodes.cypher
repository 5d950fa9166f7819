// Delete every node of ours, in batches; nodes of the user's graph are never ours.
// params: labels
// returns:
// mode: batch
MATCH (n:$any($labels))
CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 10000 ROWS
