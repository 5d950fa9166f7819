// The present names that have some keys, each with the entity that it belongs to. All in
// one row, since the driver takes long for each of many.
// params: graph: graph, keys: list[str]
// returns: names: list[dict]
// mode: read
// plan: once
UNWIND $keys AS key
MATCH (n:PgsName {graph: $graph, key: key})
RETURN collect({
  key: n.key, type: n.type, traits: n.traits, short: coalesce(n.short, ''),
  entity_key: n.entity_key, entity_type: n.entity_type
}) AS names
