// Delete the replies that are kept for chunks of a graph which need several.
// params: graph: graph, prefix: str
// mode: write
MATCH (x:PgsExtraction)
WHERE x.uid STARTS WITH $graph + '/' + $prefix
DELETE x
