// What some entities are called, as their nodes keep it, and how many mentions they have.
// All in one row, since the driver takes long for each of many.
// params: graph: graph, entities: list[str]
// returns: entities: list[dict]
// mode: read
// plan: once
// sees: documents
UNWIND $entities AS id
MATCH (e:LoadedNode {graph: $graph, id: id})
WITH e, COUNT { (e)-[:MENTIONED_IN]->() } AS mentions
RETURN collect({
  entity_key: e.key, entity_type: e.type, called: e.called, mentions: mentions
}) AS entities
