// The extractions that are kept under some keys.
// params: graph: str, keys: list[str]
// returns: key: str, data: str
// mode: read
// language: 5, 25
// plan: once
UNWIND $keys AS key
MATCH (x:PgsExtraction {uid: $graph + '/' + key})
RETURN x.key AS key, x.data AS data
