// Node ids and communities of a projection, as two parallel lists in one row.
// params: name, property
// returns: ids, communities
// mode: read
CALL gds.graph.nodeProperty.stream($name, $property) YIELD nodeId, propertyValue
RETURN collect(nodeId) AS ids, collect(propertyValue) AS communities
