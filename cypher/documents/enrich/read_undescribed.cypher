// The entities whose descriptions wait, in the order of their ids, with what chunks say of them: the
// texts with the lowest hashes. It does not matter which model they wait for.
// params: graph: graph, after: str, most: int, fragments: int
// returns: id: str, name: str, type: str, fragments: list[str]
// mode: read
// sees: documents
MATCH (e:`__Entity__` {graph: $graph})
WHERE e.undescribed IS NOT NULL AND e.id > $after
WITH e ORDER BY e.id LIMIT $most
CALL (e) {
  MATCH (e)-[m:MENTIONED_IN]->(:Chunk)
  WHERE m.description IS NOT NULL
  WITH DISTINCT m.description AS text, m.hash AS hash
  ORDER BY hash LIMIT $fragments
  RETURN collect(text) AS texts
}
RETURN e.id AS id, e.name AS name, e.type AS type, texts AS fragments
