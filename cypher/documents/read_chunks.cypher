// The chunks of some documents, with what was extracted from each.
// params: graph: graph, documents: list[str]
// returns: document: str, id: str, extraction_key: str, extraction: str,
//   unpruned: str, sure: bool
// mode: read
// plan: once
// sees: documents
UNWIND $documents AS document
MATCH (:LoadedNode {graph: $graph, id: document})-[:PART_OF]->(c:Chunk)
RETURN document, c.id AS id, c.extraction_key AS extraction_key, c.extraction AS extraction,
       coalesce(c.unpruned, '') AS unpruned, c.sure AS sure
ORDER BY document, c.index
