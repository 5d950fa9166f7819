"""Lay out the text, tables, and JSON that commands print."""
