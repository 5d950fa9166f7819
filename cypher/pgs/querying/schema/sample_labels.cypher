// Properties in a sample of the nodes of several labels, the most frequent of each label first. The
// labels are names in the statement: Neo4j 5.26 would scan all nodes for parameters. A hash of
// their ids spreads the sample: threshold / 65537 of the nodes, always the same. `examples` are the
// beginnings of some values; lists have none, and so have vectors.
// params: labels: list[str], threshold: int, length: int
// returns: label: str, property: str, nodes: int, types: list[str], examples: list[str]
// mode: read
// sees: everything
MATCH (n:`{names}`)
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
