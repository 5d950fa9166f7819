// Which of some strings a property of nodes with one of the labels has. The limit is their number,
// so that the nodes are read until all of them are found.
// params: values: list[str], limit: int
// returns: value: str
// mode: read
// sees: everything
MATCH (n:`{labels}`)
WHERE n.`{property}` IN $values
RETURN DISTINCT n.`{property}` AS value LIMIT $limit
