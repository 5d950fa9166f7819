// The nodes that the prompt of a run showed and that still exist, in its order; `hash` is of the
// text that it showed. Their partition is 0, since a search takes nodes of any.
// params: run: str, title: str, key: str, text: list[str]
// returns: partition: int, rank: int, hash: int, element_id: str, labels: list[str], title: any,
//   key: any, text: list[any]
// mode: read
// language: 5, 25
MATCH (:PgsRun {id: $run})-[w:PGS_SHOWED]->(n)
WHERE NOT n:PgsTriplet
RETURN 0 AS partition, w.place AS rank, w.hash AS hash, elementId(n) AS element_id,
       [label IN labels(n) WHERE NOT label STARTS WITH 'Pgs'] AS labels,
       n[$title] AS title, n[$key] AS key, [property IN $text | n[property]] AS text
ORDER BY rank
