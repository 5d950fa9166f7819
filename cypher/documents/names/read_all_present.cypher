// All present names of a graph, each with the entity that it belongs to.
// params: graph: graph
// returns: key: str, type: str, traits: str, short: str, entity_key: str, entity_type: str
// mode: read
MATCH (n:PgsName {graph: $graph})
RETURN n.key AS key, n.type AS type, n.traits AS traits, coalesce(n.short, '') AS short,
       n.entity_key AS entity_key, n.entity_type AS entity_type
