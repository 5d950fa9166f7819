// The keys of what is kept and does not name all of the documents that it is of.
// params: graph: graph, rows: list[dict]
// returns: key: str
// mode: read
// plan: once
UNWIND $rows AS row
MATCH (x:PgsExtraction {uid: $graph + '/' + row.key})
WITH row, CASE WHEN x.documents IS :: LIST<STRING NOT NULL> NOT NULL THEN x.documents ELSE [] END AS named
WHERE any(document IN row.documents WHERE NOT document IN named)
RETURN row.key AS key
