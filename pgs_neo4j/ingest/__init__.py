"""Brings files into Neo4j: read and checked whole, then loaded so that it shows at once."""
