// Some of the chunks that mention some entities by a spelling and type, with what each extraction
// holds: those after an id.
// params: graph: graph, rows: list[dict], after: str, limit: int
// returns: id: str, extraction: str, sure: bool
// mode: read
// plan: once
// sees: documents
UNWIND $rows AS row
MATCH (e:LoadedNode {graph: $graph, id: row.entity})-[m:MENTIONED_IN {type: row.type}]->(c:Chunk)
WHERE m.name IN row.names AND c.id > $after
WITH DISTINCT c ORDER BY c.id LIMIT $limit
RETURN c.id AS id, c.extraction AS extraction, c.sure AS sure
