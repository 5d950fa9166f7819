// What chunks call all entities of a graph, by type and spelling.
// params: graph: str
// returns: entity_key: str, entity_type: str, type: str, name: str, sure: bool, count: int
// mode: read
// language: 5, 25
MATCH (e:`__Entity__` {graph: $graph})-[m:MENTIONED_IN]->(:Chunk)
RETURN e.key AS entity_key, e.type AS entity_type, m.type AS type, m.name AS name, m.sure AS sure,
       count(*) AS count
