// Store of which folders some documents of a graph are, by hashes of their paths.
// params: graph: str, holder: str, rows: list[dict]
// returns:
// mode: write
// language: 5, 25
MATCH (w:PgsIngest {graph: $graph})
WHERE w.holder = $holder
UNWIND $rows AS row
MATCH (d:LoadedNode {graph: $graph, id: row.id})
WHERE d:Document
SET d.roots = row.roots
