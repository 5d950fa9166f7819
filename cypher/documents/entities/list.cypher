// Entities of a graph, those with the most mentions first. A text is part of one of their names.
// params: graph: graph, text: str, key: str, type: str, limit: int
// returns: id: str, name: str, type: str, mentions: int, description: str
// mode: read
// sees: documents
CALL () {
  MATCH (n:PgsName {graph: $graph})
  WHERE $key <> '' AND n.key CONTAINS $key
  RETURN collect(DISTINCT 'entity:' + n.entity_type + ':' + n.entity_key) AS ids
}
MATCH (e:`__Entity__` {graph: $graph})
WHERE ($text = '' OR toLower(e.name) CONTAINS $text OR e.id IN ids)
  AND ($type = '' OR toLower(e.type) = $type)
RETURN e.id AS id, e.name AS name, e.type AS type, toInteger(e.weight) AS mentions,
       coalesce(e.description, '') AS description
ORDER BY mentions DESC, id
LIMIT $limit
