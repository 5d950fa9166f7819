// The present names that have one of some blocks at the place of that block.
// params: graph: graph, first: list[str], second: list[str], third: list[str], fourth: list[str],
//   fifth: list[str]
// returns: key: str, type: str, traits: str, short: str, entity_key: str, entity_type: str
// mode: read
// plan: once
CALL () {
  UNWIND $first AS block MATCH (n:PgsName {graph: $graph, block_1: block}) RETURN n
  UNION
  UNWIND $second AS block MATCH (n:PgsName {graph: $graph, block_2: block}) RETURN n
  UNION
  UNWIND $third AS block MATCH (n:PgsName {graph: $graph, block_3: block}) RETURN n
  UNION
  UNWIND $fourth AS block MATCH (n:PgsName {graph: $graph, block_4: block}) RETURN n
  UNION
  UNWIND $fifth AS block MATCH (n:PgsName {graph: $graph, block_5: block}) RETURN n
}
RETURN n.key AS key, n.type AS type, n.traits AS traits,
       coalesce(n.short, '') AS short, n.entity_key AS entity_key, n.entity_type AS entity_type
