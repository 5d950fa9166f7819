// Nodes that a search found, with what it shows of them.
// params: nodes: list[str], text: list[str], title: str, key: str
// returns: element_id: str, labels: list[str], text: list[any], title: any, key: any
// mode: read
// language: 5, 25
UNWIND $nodes AS wanted
MATCH (n) WHERE elementId(n) = wanted
RETURN elementId(n) AS element_id,
       [label IN labels(n) WHERE NOT label STARTS WITH 'Pgs'] AS labels,
       [property IN $text | n[property]] AS text, n[$title] AS title, n[$key] AS key
