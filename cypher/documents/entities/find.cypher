// The entities that have some normalized names, with the type of each name.
// params: graph: graph, keys: list[str]
// returns: key: str, type: str, entity_key: str, entity_type: str
// mode: read
// sees: documents
UNWIND $keys AS key
CALL (key) {
  MATCH (n:PgsName {graph: $graph, key: key})
  RETURN n.type AS type, n.entity_key AS entity_key, n.entity_type AS entity_type
  UNION
  MATCH (e:`__Entity__` {graph: $graph, key: key})
  RETURN e.type AS type, e.key AS entity_key, e.type AS entity_type
}
RETURN DISTINCT key, type, entity_key, entity_type
ORDER BY key, type, entity_key, entity_type
