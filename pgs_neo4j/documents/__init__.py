"""Loads files into Neo4j: checks them completely, then publishes them atomically."""
