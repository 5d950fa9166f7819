// Keep what was extracted from a chunk until its document is published.
// params: graph: str, key: str, data: str
// returns:
// mode: write
// language: 5, 25
MERGE (x:PgsExtraction {uid: $graph + '/' + $key})
SET x.graph = $graph, x.key = $key, x.data = $data
