// Versions of Neo4j and GDS, and the number of nodes, once the server is ready.
// returns: neo4j: str, gds: str, nodes: int
// mode: read
// sees: everything
CALL dbms.components() YIELD name, versions
WITH name, versions
WHERE name = 'Neo4j Kernel'
CALL () {
  MATCH (n)
  RETURN count(n) AS nodes
}
RETURN versions[0] AS neo4j, gds.version() AS gds, nodes
