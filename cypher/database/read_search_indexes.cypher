// Full-text and vector indexes on nodes and relationships, also those of others.
// returns: name: str, kind: str, entity: str, labels: list[str], properties: list[str],
//   dimensions: int?, similarity: str?, analyzer: str?, state: str, population: float?, failure: str?
// mode: read
SHOW INDEXES YIELD name, type, entityType, labelsOrTypes, properties, state, populationPercent,
     options, failureMessage
WHERE type IN ['FULLTEXT', 'VECTOR']
RETURN name, CASE type WHEN 'FULLTEXT' THEN 'text' ELSE 'vector' END AS kind,
       toLower(entityType) AS entity, labelsOrTypes AS labels, properties,
       options.indexConfig['vector.dimensions'] AS dimensions,
       options.indexConfig['vector.similarity_function'] AS similarity,
       options.indexConfig['fulltext.analyzer'] AS analyzer,
       state, populationPercent AS population, failureMessage AS failure
ORDER BY kind, entity, labels[0], properties[0], name
