// Full-text indexes on nodes that can be asked, by name, with their analyzer.
// params:
// returns: name: str, labels: list[str], properties: list[str], analyzer: str
// mode: read
SHOW FULLTEXT INDEXES YIELD name, labelsOrTypes, properties, entityType, state, options
WHERE entityType = 'NODE' AND state = 'ONLINE'
RETURN name, labelsOrTypes AS labels, properties,
       options.indexConfig['fulltext.analyzer'] AS analyzer
ORDER BY name
