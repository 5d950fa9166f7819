// The keys of the replies that are kept for chunks of a graph which need several.
// params: graph: graph, prefix: str
// returns: key: str
// mode: read
MATCH (x:PgsExtraction)
WHERE x.uid STARTS WITH $graph + '/' + $prefix
RETURN x.key AS key
