// Node ids and communities of a projection, as two parallel lists in one row.
// params: name: str, property: str
// returns: ids: list[int], communities: list[int]
// mode: read
CALL gds.graph.nodeProperty.stream($name, $property) YIELD nodeId, propertyValue
RETURN collect(nodeId) AS ids, collect(propertyValue) AS communities
