// Some nodes with what a prompt shows of them.
// params: nodes: list[str], text: list[str], title: str, key: str
// returns: nodes: list[dict]
// mode: read
// language: 5, 25
UNWIND $nodes AS wanted
MATCH (n) WHERE elementId(n) = wanted
RETURN collect({
  element_id: elementId(n), labels: [label IN labels(n) WHERE NOT label STARTS WITH 'Pgs'],
  text: [property IN $text | n[property]], title: n[$title], key: n[$key]
}) AS nodes
