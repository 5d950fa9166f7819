// Labels at both ends of a sample of the relationships of a type with many of them, as in
// sample_ends. Only the first `scan` are read.
// params: scan: int, threshold: int
// returns: type: str, source: list[str], target: list[str], relationships: int
// mode: read
// sees: everything
MATCH (a)-[r:`{names}`]->(b)
WITH a, r, b LIMIT $scan
WHERE (id(r) % 1000003) * 48271 % 65537 < $threshold
RETURN type(r) AS type, labels(a) AS source, labels(b) AS target, count(*) AS relationships
ORDER BY type, relationships DESC
