// What some entities are called, as their nodes keep it, and how many mentions they have.
// params: graph: str, entities: list[str]
// returns: entity_key: str, entity_type: str, called: str?, mentions: int
// mode: read
// language: 5, 25
UNWIND $entities AS id
MATCH (e:LoadedNode {graph: $graph, id: id})
RETURN e.key AS entity_key, e.type AS entity_type, e.called AS called,
       COUNT { (e)-[:MENTIONED_IN]->() } AS mentions
