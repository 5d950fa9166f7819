// Delete the relationships of the views of a graph in batches.
// params: base: graph
// mode: batch
// sees: links
MATCH (v:PgsView {base: $base})<-[r:PGS_SEEN]-()
CALL (r) { DELETE r } IN TRANSACTIONS OF 20000 ROWS
