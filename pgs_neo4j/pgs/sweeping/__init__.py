"""Reads the full text of partitions: packs, asks, parses, and checks."""
