// The present names that have some keys, each with the entity that it belongs to.
// params: graph: str, keys: list[str]
// returns: key: str, type: str, traits: str, short: str, entity_key: str, entity_type: str
// mode: read
// language: 5, 25
UNWIND $keys AS key
MATCH (n:PgsName {graph: $graph, key: key})
RETURN n.key AS key, n.type AS type, n.traits AS traits,
       coalesce(n.short, '') AS short, n.entity_key AS entity_key, n.entity_type AS entity_type
