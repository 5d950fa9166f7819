// Keep what was extracted from chunks until their documents are published.
// params: graph: str, rows: list[dict]
// returns:
// mode: write
// language: 5, 25
// plan: once
UNWIND $rows AS row
MERGE (x:PgsExtraction {uid: $graph + '/' + row.key})
SET x.graph = $graph, x.key = row.key, x.data = row.data
