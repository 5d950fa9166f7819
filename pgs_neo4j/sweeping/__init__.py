"""Reads partitions at full text: packs them into passes, asks, parses, and checks reports."""
