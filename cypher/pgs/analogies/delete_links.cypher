// Delete the analogies of a graph that are not of its current making; without a making, all.
// params: graph: graph
// mode: batch
// sees: links
OPTIONAL MATCH (a:PgsAnalogies {graph: $graph})
WITH a.making AS current
MATCH ()-[r:PGS_ISOMORPHIC]->()
WHERE r.graph = $graph AND (current IS NULL OR r.making <> current)
CALL (r) { DELETE r } IN TRANSACTIONS OF 20000 ROWS
