// Properties in a sample of the relationships of a type with many of them, as in sample_types. Only
// the first `scan` are read.
// params: scan: int, threshold: int, length: int
// returns: type: str, property: str, relationships: int, types: list[str], examples: list[str]
// mode: read
// sees: everything
MATCH ()-[r:`{names}`]->()
WITH r LIMIT $scan
WHERE (id(r) % 1000003) * 48271 % 65537 < $threshold
UNWIND keys(r) AS property
WITH type(r) AS type, property, r[property] AS value
RETURN type, property, count(*) AS relationships, collect(DISTINCT valueType(value)) AS types,
       collect(DISTINCT CASE
         WHEN value IS :: STRING NOT NULL THEN left(value, $length)
         WHEN value IS :: INTEGER NOT NULL | FLOAT NOT NULL | DATE NOT NULL | LOCAL DATETIME NOT NULL
              | ZONED DATETIME NOT NULL THEN toString(value)
       END)[..3] AS examples
ORDER BY type, relationships DESC, property
