"""The only door to Neo4j: connections, statements, our schema, and leases."""
