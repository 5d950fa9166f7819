// Version and edition of the server.
// params:
// returns: version: str, edition: str
// mode: read
CALL dbms.components() YIELD name, versions, edition
WITH * WHERE name = 'Neo4j Kernel'
RETURN versions[0] AS version, edition
