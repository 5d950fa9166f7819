// Delete the replies that are kept for chunks of a graph which need several.
// params: graph: str, prefix: str
// returns:
// mode: write
// language: 5, 25
MATCH (x:PgsExtraction)
WHERE x.uid STARTS WITH $graph + '/' + $prefix
DELETE x
