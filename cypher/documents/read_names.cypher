// What chunks call some entities, by type and spelling, and how they describe them. `count` and
// `texts` leave out chunks that are about to go. Descriptions come in the order of their hashes.
// params: graph: graph, entities: list[str], gone: list[str], most: int
// returns: entity_key: str, entity_type: str, names: list[dict], fragments: list[dict]
// mode: read
// plan: once
// sees: documents
UNWIND $entities AS id
MATCH (e:LoadedNode {graph: $graph, id: id})
CALL (e) {
  MATCH (e)-[m:MENTIONED_IN]->(c:Chunk)
  WITH m.type AS type, m.name AS name, m.sure AS sure, coalesce(m.short, '') AS short,
       count(CASE WHEN NOT c.id IN $gone THEN 1 END) AS count
  RETURN collect({type: type, name: name, sure: sure, short: short, count: count}) AS names
}
CALL (e) {
  MATCH (e)-[m:MENTIONED_IN]->(c:Chunk)
  WHERE m.description IS NOT NULL AND NOT c.id IN $gone
  WITH DISTINCT m.type AS type, m.name AS name, m.description AS text, m.hash AS hash
  ORDER BY hash
  WITH type, name, collect(text)[..$most] AS texts
  RETURN collect({type: type, name: name, texts: texts}) AS fragments
}
RETURN e.key AS entity_key, e.type AS entity_type, names, fragments
