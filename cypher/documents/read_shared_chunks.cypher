// Some of the chunks that mention both ends of some relations, with what each extraction holds:
// those after an id. They are looked for among those of the end that has fewer.
// params: graph: graph, rows: list[dict], gone: list[str], after: str, limit: int
// returns: id: str, extraction: str, sure: bool
// mode: read
// plan: once
// sees: documents
UNWIND $rows AS row
MATCH (s:LoadedNode {graph: $graph, id: row.source})
MATCH (t:LoadedNode {graph: $graph, id: row.target})
WITH s, t, count {(s)-[:MENTIONED_IN]->()} <= count {(t)-[:MENTIONED_IN]->()} AS forward
WITH CASE WHEN forward THEN s ELSE t END AS few, CASE WHEN forward THEN t ELSE s END AS many
CALL (few, many) {
  MATCH (few)-[:MENTIONED_IN]->(c:Chunk)
  WHERE c.id > $after AND EXISTS { (many)-[:MENTIONED_IN]->(c) }
  RETURN c
}
WITH DISTINCT c WHERE NOT c.id IN $gone
WITH c ORDER BY c.id LIMIT $limit
RETURN c.id AS id, c.extraction AS extraction, c.sure AS sure
