// Delete what an ingestion that broke off has kept of some documents, whose text the graph may never
// have had.
// params: graph: graph, documents: list[str]
// returns: deleted: int
// mode: write
MATCH (x:PgsExtraction)
WHERE x.uid STARTS WITH $graph + '/' AND any(document IN x.documents WHERE document IN $documents)
DELETE x
RETURN count(*) AS deleted
