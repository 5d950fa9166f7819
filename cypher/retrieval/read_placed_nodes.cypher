// Some nodes with their place in a generation and what a prompt shows of them. Nodes that are
// gone, or have no place in it, have no row.
// params: generation: str, nodes: list[str], text: list[str], title: str, key: str
// returns: partition: int, rank: int, element_id: str, labels: list[str], text: list[any],
//   title: any, key: any
// mode: read
// language: 5, 25
UNWIND $nodes AS wanted
MATCH (n) WHERE elementId(n) = wanted
MATCH (n)-[m:PGS_IN]->(p:PgsPartition)-[:PGS_PART_OF]->(:PgsGeneration {id: $generation})
WHERE p.level = 0
RETURN p.id AS partition, m.rank AS rank, elementId(n) AS element_id,
       [label IN labels(n) WHERE NOT label STARTS WITH 'Pgs'] AS labels,
       [property IN $text | n[property]] AS text, n[$title] AS title, n[$key] AS key
