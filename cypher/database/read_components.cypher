// Version and edition of the server.
// params:
// returns: version, edition
// mode: read
CALL dbms.components() YIELD name, versions, edition
WITH * WHERE name = 'Neo4j Kernel'
RETURN versions[0] AS version, edition
