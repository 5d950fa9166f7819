"""What is extracted from a chunk: names, replies, places in the text, and the schema."""
