// Vector and full-text indexes by name.
// returns: name: str, type: str, labels: list[str], properties: list[str], state: str
// mode: read
SHOW INDEXES YIELD name, type, labelsOrTypes, properties, state
WHERE type IN ['VECTOR', 'FULLTEXT']
RETURN name, type, labelsOrTypes AS labels, properties, state
ORDER BY name
