// Some chunks, with what was extracted from each; those that the graph does not have are left out.
// params: graph: graph, ids: list[str]
// returns: document: str, id: str, extraction_key: str, extraction: str,
//   unpruned: str, sure: bool
// mode: read
// plan: once
// sees: documents
UNWIND $ids AS id
MATCH (d:Document)-[:PART_OF]->(c:LoadedNode:Chunk {graph: $graph, id: id})
RETURN d.id AS document, c.id AS id, c.extraction_key AS extraction_key, c.extraction AS extraction,
       coalesce(c.unpruned, '') AS unpruned, c.sure AS sure
