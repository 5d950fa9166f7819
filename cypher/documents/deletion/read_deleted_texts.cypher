// The texts of the chunks of some documents, with the keys of their extractions.
// params: graph: graph, documents: list[str]
// returns: document: str, text: str, extraction_key: str
// mode: read
// sees: documents
UNWIND $documents AS document
MATCH (:LoadedNode {graph: $graph, id: document})-[:PART_OF]->(c:Chunk)
RETURN document, c.text AS text, c.extraction_key AS extraction_key
