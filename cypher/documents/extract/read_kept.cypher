// The ids of the documents whose extractions wait for them.
// params: graph: graph
// returns: document: str
// mode: read
MATCH (x:PgsExtraction)
WHERE x.uid STARTS WITH $graph + '/'
WITH x.documents AS documents WHERE documents IS :: LIST<STRING NOT NULL> NOT NULL
UNWIND documents AS document
RETURN DISTINCT document
ORDER BY document
