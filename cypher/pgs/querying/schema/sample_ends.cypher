// Labels at both ends of a sample of the relationships of several types, each combination once, the
// most frequent of each type first. The sample is spread as for nodes.
// params: threshold: int
// returns: type: str, source: list[str], target: list[str], relationships: int
// mode: read
// sees: everything
MATCH (a)-[r:`{names}`]->(b)
WHERE (id(r) % 1000003) * 48271 % 65537 < $threshold
RETURN type(r) AS type, labels(a) AS source, labels(b) AS target, count(*) AS relationships
ORDER BY type, relationships DESC
