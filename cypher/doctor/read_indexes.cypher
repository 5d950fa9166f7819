// Vector and full-text indexes by name.
// params:
// returns: name, type, labels, properties, state
// mode: read
SHOW INDEXES YIELD name, type, labelsOrTypes, properties, state
WHERE type IN ['VECTOR', 'FULLTEXT']
RETURN name, type, labelsOrTypes AS labels, properties, state
ORDER BY name
