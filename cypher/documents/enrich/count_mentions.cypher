// How many mentions the entities have that some names belong to. All in one row, since the driver
// takes long for each of many.
// params: graph: graph, keys: list[str]
// returns: names: list[dict]
// mode: read
// sees: documents
UNWIND $keys AS key
MATCH (n:PgsName {graph: $graph, key: key})
MATCH (e:LoadedNode {graph: $graph, id: 'entity:' + n.entity_type + ':' + n.entity_key})
RETURN collect({
  key: key, entity: e.id, mentions: COUNT { (e)-[:MENTIONED_IN]->() }
}) AS names
