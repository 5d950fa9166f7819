// Texts of a label's nodes that are one of the names, which are in lower case. `properties` are the
// properties to compare. All nodes of the label are read, because an index distinguishes case.
// params: label: str, properties: list[str], names: list[str], limit: int
// returns: property: str, text: str, nodes: int, element_id: str
// mode: read
// sees: everything
MATCH (n:$($label))
UNWIND $properties AS property
WITH n, property, n[property] AS text
WHERE text IS :: STRING NOT NULL AND toLower(text) IN $names
RETURN property, text, count(*) AS nodes, min(elementId(n)) AS element_id
ORDER BY property, text
LIMIT $limit
