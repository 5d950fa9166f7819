"""Reads partitions at full text: packs, asks, parses, and checks."""
