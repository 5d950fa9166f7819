"""Loads files into Neo4j: checked completely, then published atomically."""
