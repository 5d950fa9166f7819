// Let what is kept name more of the documents that it is of.
// params: graph: graph, rows: list[dict]
// mode: write
// plan: once
UNWIND $rows AS row
MATCH (x:PgsExtraction {uid: $graph + '/' + row.key})
WITH x, row, CASE WHEN x.documents IS :: LIST<STRING NOT NULL> NOT NULL THEN x.documents ELSE [] END AS named
SET x.documents = named + [document IN row.documents WHERE NOT document IN named]
