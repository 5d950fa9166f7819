// The chunks that mention both ends of some relations, with what was extracted from each.
// params: graph: str, rows: list[dict], gone: list[str]
// returns: id: str, extraction: str, sure: bool
// mode: read
// language: 5, 25
UNWIND $rows AS row
MATCH (s:LoadedNode {graph: $graph, id: row.source})
MATCH (t:LoadedNode {graph: $graph, id: row.target})
MATCH (s)-[:MENTIONED_IN]->(c:Chunk)<-[:MENTIONED_IN]-(t)
WITH DISTINCT c WHERE NOT c.id IN $gone
RETURN c.id AS id, c.extraction AS extraction, c.sure AS sure
