"""Text, tables, and JSON that commands print."""
