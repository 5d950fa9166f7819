// Delete every node of the package in batches, and never a node of the user's graph.
// params: labels: list[str]
// mode: batch
// sees: everything
MATCH (n:$any($labels))
CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 10000 ROWS
