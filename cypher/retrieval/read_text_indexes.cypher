// Full-text indexes on nodes that can be asked.
// params:
// returns: name: str, labels: list[str], properties: list[str]
// mode: read
// language: 5, 25
SHOW FULLTEXT INDEXES YIELD name, labelsOrTypes, properties, entityType, state
WHERE entityType = 'NODE' AND state = 'ONLINE'
RETURN name, labelsOrTypes AS labels, properties ORDER BY name
