// Nodes that were ingested or loaded, by graph, which a purge leaves alone.
// returns: graph: str, nodes: int, documents: int
// mode: read
// sees: everything
MATCH (n:LoadedNode)
RETURN n.graph AS graph, count(n) AS nodes, count(CASE WHEN n:Document THEN 1 END) AS documents
ORDER BY graph
