// What chunks call all entities of a graph, by type and spelling. `short`: the abbreviation that
// they define for it.
// params: graph: graph
// returns: entity_key: str, entity_type: str, type: str, name: str, sure: bool, short: str, count: int
// mode: read
// sees: documents
MATCH (e:`__Entity__` {graph: $graph})-[m:MENTIONED_IN]->(:Chunk)
RETURN e.key AS entity_key, e.type AS entity_type, m.type AS type, m.name AS name, m.sure AS sure,
       coalesce(m.short, '') AS short, count(*) AS count
