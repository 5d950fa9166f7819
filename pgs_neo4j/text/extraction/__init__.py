"""Extraction from a chunk: names, replies, places in the text, and the schema."""
