"""Loads graphs from files of nodes and relationships."""
