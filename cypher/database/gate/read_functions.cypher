// Names of the functions that belong to Neo4j itself, and not to a plugin.
// returns: name: str
// mode: read
SHOW FUNCTIONS YIELD name, isBuiltIn
WHERE isBuiltIn
RETURN name
