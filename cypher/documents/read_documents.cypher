// The documents of a graph, by id.
// params: graph: graph
// returns: id: str, hash: str, rules: str, signature: str, chunks: int, name: str, size: int,
//   label: str, schema: str, told: list[str], source: str, roots: list[str], unread: list[str]?,
//   chunks_unproven: int?
// mode: read
// sees: documents
MATCH (d:LoadedNode:Document {graph: $graph})
RETURN d.id AS id, d.hash AS hash, d.rules AS rules, d.signature AS signature, d.chunks AS chunks,
       d.name AS name, d.size AS size, d.label AS label, d.schema AS schema,
       d.told AS told, d.source AS source, d.roots AS roots,
       d.unread AS unread, d.chunks_unproven AS chunks_unproven
ORDER BY id
