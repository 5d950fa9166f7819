"""The only door to Neo4j: connections, statements, the schema, and leases."""
