// How often names are mentioned, by type and spelling, and how they are described, but for the
// chunks of a name that are about to go. Descriptions come in the order of their hashes.
// params: graph: str, rows: list[dict], most: int
// returns: key: str, names: list[dict], fragments: list[dict]
// mode: read
// language: 5, 25
UNWIND $rows AS row
CALL (row) {
  MATCH (e:`__Entity__` {graph: $graph, key: row.key})-[m:MENTIONED_IN]->(c:Chunk)
  WHERE NOT c.id IN row.gone
  WITH m.type AS type, m.name AS name, m.sure AS sure, count(*) AS count
  RETURN collect({type: type, name: name, sure: sure, count: count}) AS names
}
CALL (row) {
  MATCH (e:`__Entity__` {graph: $graph, key: row.key})-[m:MENTIONED_IN]->(c:Chunk)
  WHERE m.description IS NOT NULL AND NOT c.id IN row.gone
  WITH DISTINCT m.type AS type, m.description AS text, m.hash AS hash
  ORDER BY hash
  WITH type, collect(text)[..$most] AS texts
  RETURN collect({type: type, texts: texts}) AS fragments
}
RETURN row.key AS key, names, fragments
