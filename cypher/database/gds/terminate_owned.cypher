// End the GDS statements of jobs that lost their lease: those of a graph with an older fence.
// params: graph: str, fence: int
// returns: ended: int
// mode: read
SHOW TRANSACTIONS YIELD transactionId AS id, metaData
WHERE metaData.pgs_graph = $graph AND metaData.pgs_fence < $fence
TERMINATE TRANSACTIONS id YIELD message
RETURN count(*) AS ended
