// Delete the record of a graph's analogies, and the skeletons that no other graph uses.
// params: graph: graph
// mode: batch
MATCH (s:PgsSkeleton|PgsAnalogies)
WHERE s.graph = $graph OR $graph IN s.graphs
CALL (s) {
  SET s.graphs = [graph IN s.graphs WHERE graph <> $graph]
  WITH s WHERE s:PgsAnalogies OR size(s.graphs) = 0
  DELETE s
} IN TRANSACTIONS OF 10000 ROWS
