// The chunks that mention some entities by a spelling and type, with what each extraction holds.
// params: graph: str, rows: list[dict]
// returns: id: str, extraction: str, sure: bool
// mode: read
// language: 5, 25
// plan: once
UNWIND $rows AS row
MATCH (e:LoadedNode {graph: $graph, id: row.entity})-[m:MENTIONED_IN {type: row.type}]->(c:Chunk)
WHERE m.name IN row.names
RETURN DISTINCT c.id AS id, c.extraction AS extraction, c.sure AS sure
