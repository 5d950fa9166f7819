// Names of the indexes of ingested and loaded nodes, with those of constraints.
// returns: name: str, constraint: bool
// mode: read
SHOW INDEXES YIELD name, owningConstraint
WHERE name STARTS WITH 'ingested_' OR name = 'loaded_node_key'
RETURN name, owningConstraint IS NOT NULL AS constraint
ORDER BY name
