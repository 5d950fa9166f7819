// The nodes that a run's synthesis cites and that still exist, with what a page shows of them.
// params: run: str, title: str, key: str, text: list[str]
// returns: partition: int, alias: str, rank: int, element_id: str, labels: list[str], title: any,
//   key: any, text: list[any]
// mode: read
// language: 5, 25
MATCH (:PgsThesis {id: $run + ':thesis'})-[c:PGS_CITES]->(n)
RETURN c.partition AS partition, c.alias AS alias, c.rank AS rank, elementId(n) AS element_id,
       [label IN labels(n) WHERE NOT label STARTS WITH 'Pgs'] AS labels,
       n[$title] AS title, n[$key] AS key, [property IN $text | n[property]] AS text
ORDER BY partition, rank
