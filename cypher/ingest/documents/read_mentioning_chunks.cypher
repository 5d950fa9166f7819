// The chunks that mention some names with one type, with what was extracted from each.
// params: graph: str, rows: list[dict]
// returns: id: str, extraction: str, sure: bool
// mode: read
// language: 5, 25
UNWIND $rows AS row
MATCH (e:`__Entity__` {graph: $graph, key: row.key})-[m:MENTIONED_IN {type: row.type}]->(c:Chunk)
RETURN DISTINCT c.id AS id, c.extraction AS extraction, c.sure AS sure
