// The extractions that are kept under some keys.
// params: graph: graph, keys: list[str]
// returns: key: str, data: str
// mode: read
// plan: once
UNWIND $keys AS key
MATCH (x:PgsExtraction {uid: $graph + '/' + key})
RETURN x.key AS key, x.data AS data
