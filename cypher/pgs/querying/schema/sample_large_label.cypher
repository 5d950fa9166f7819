// Properties in a sample of the nodes of a label with many nodes, as in sample_labels. Only the first
// `scan` are read. A limit on several labels would make the server sort their nodes first.
// params: labels: list[str], scan: int, threshold: int, length: int
// returns: label: str, property: str, nodes: int, types: list[str], examples: list[str]
// mode: read
// sees: everything
MATCH (n:`{names}`)
WITH n LIMIT $scan
WHERE (id(n) % 1000003) * 48271 % 65537 < $threshold
UNWIND [label IN labels(n) WHERE label IN $labels] AS label
UNWIND keys(n) AS property
WITH label, property, n[property] AS value
RETURN label, property, count(*) AS nodes, collect(DISTINCT valueType(value)) AS types,
       collect(DISTINCT CASE
         WHEN value IS :: STRING NOT NULL THEN left(value, $length)
         WHEN value IS :: INTEGER NOT NULL | FLOAT NOT NULL | DATE NOT NULL | LOCAL DATETIME NOT NULL
              | ZONED DATETIME NOT NULL THEN toString(value)
       END)[..3] AS examples
ORDER BY label, nodes DESC, property
