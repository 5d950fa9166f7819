// Delete what ingestions that broke off have kept of a graph, unless it has documents.
// params: graph: graph
// returns: deleted: int
// mode: write
// sees: documents
WITH NOT EXISTS { MATCH (:LoadedNode:Document {graph: $graph}) } AS empty
MATCH (x:PgsExtraction)
WHERE empty AND x.uid STARTS WITH $graph + '/'
DELETE x
RETURN count(*) AS deleted
