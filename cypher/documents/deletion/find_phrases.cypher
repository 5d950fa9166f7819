// The nodes that a full-text index finds by whole phrases, with their texts as they are now.
// params: index: str, phrases: list[str]
// returns: phrase: str, element_id: str, id: str, texts: list[str]
// mode: read
// sees: everything
UNWIND $phrases AS phrase
CALL db.index.fulltext.queryNodes($index, phrase, {limit: 5}) YIELD node
RETURN phrase, elementId(node) AS element_id,
       coalesce(toStringOrNull(node.id), elementId(node)) AS id,
       [value IN [key IN keys(node) | node[key]] WHERE value IS :: STRING NOT NULL] AS texts
