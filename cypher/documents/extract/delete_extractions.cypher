// Delete the extractions that are kept under some keys.
// params: graph: graph, keys: list[str]
// returns: deleted: int
// mode: write
// plan: once
UNWIND $keys AS key
MATCH (x:PgsExtraction {uid: $graph + '/' + key})
DELETE x
RETURN count(*) AS deleted
