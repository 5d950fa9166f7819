// Vector indexes that are ready to be asked.
// params:
// returns: name, label, property, dimensions
// mode: read
SHOW VECTOR INDEXES YIELD name, labelsOrTypes, properties, entityType, state, options
WHERE entityType = 'NODE' AND state = 'ONLINE'
RETURN name, labelsOrTypes[0] AS label, properties[0] AS property,
       options.indexConfig['vector.dimensions'] AS dimensions
