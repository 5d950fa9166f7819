// Labels at both ends of a type's relationships, each combination once, in the first `scan` of them.
// params: type: str, scan: int
// returns: source: list[str], target: list[str]
// mode: read
// sees: everything
MATCH (a)-[r:$($type)]->(b)
WITH a, b LIMIT $scan
RETURN DISTINCT labels(a) AS source, labels(b) AS target
