// Relations between entities as they stand. They are looked for between both of their ends, since
// one of them may have very many.
// params: graph: graph, rows: list[dict]
// returns: place: int, fact: str, fact_weight: float, keywords: list[str], weight: float,
//   mentions: int, chunks: list[str]
// mode: read
// plan: once
// sees: documents
UNWIND $rows AS row
MATCH (s:LoadedNode {graph: $graph, id: row.source})
MATCH (t:LoadedNode {graph: $graph, id: row.target})
CALL (row, s, t) {
  MATCH (s)-[r:RELATES {rel_type: row.rel_type}]->(t)
  RETURN r
}
RETURN row.place AS place, r.fact AS fact, r.fact_weight AS fact_weight, r.keywords AS keywords,
       r.weight AS weight, r.mentions AS mentions, r.chunks AS chunks
