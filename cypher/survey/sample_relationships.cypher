// Properties in a sample of a type's relationships; the row without a property counts them. The
// sample is spread over the first `scan` relationships, as for nodes.
// params: type: str, scan: int, threshold: int, limit: int
// returns: property: str?, relationships: int, types: list[str], least: number?, greatest: number?
// mode: read
// language: 5, 25
MATCH ()-[r:$($type)]->()
WITH r LIMIT $scan
WHERE (id(r) % 1000003) * 48271 % 65537 < $threshold
UNWIND [null] + keys(r) AS property
WITH property, r[property] AS value
WITH property, value, CASE WHEN value IS :: INTEGER NOT NULL | FLOAT NOT NULL THEN value END AS number
RETURN property, count(*) AS relationships, collect(DISTINCT valueType(value)) AS types,
       min(number) AS least, max(number) AS greatest
ORDER BY property IS NOT NULL, relationships DESC, property
LIMIT $limit
