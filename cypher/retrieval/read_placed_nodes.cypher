// Some nodes with their place in a generation and what a prompt shows of them. Nodes that are
// gone, or have no place in it, have no row.
// params: generation, nodes, text, title, key
// returns: partition, rank, element_id, labels, text, title, key
// mode: read
UNWIND $nodes AS wanted
MATCH (n) WHERE elementId(n) = wanted
MATCH (n)-[m:PGS_IN]->(p:PgsPartition)-[:PGS_PART_OF]->(:PgsGeneration {id: $generation})
WHERE p.level = 0
RETURN p.id AS partition, m.rank AS rank, elementId(n) AS element_id,
       [label IN labels(n) WHERE NOT label STARTS WITH 'Pgs'] AS labels,
       [property IN $text | n[property]] AS text, n[$title] AS title, n[$key] AS key
