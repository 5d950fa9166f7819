// Vector indexes on nodes; only those whose state is ONLINE can be asked.
// params:
// returns: name: str, label: str, property: str, dimensions: int, similarity: str, state: str
// mode: read
// language: 5, 25
SHOW VECTOR INDEXES YIELD name, labelsOrTypes, properties, entityType, state, options
WHERE entityType = 'NODE'
RETURN name, labelsOrTypes[0] AS label, properties[0] AS property,
       options.indexConfig['vector.dimensions'] AS dimensions,
       options.indexConfig['vector.similarity_function'] AS similarity, state
