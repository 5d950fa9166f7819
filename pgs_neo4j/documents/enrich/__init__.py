"""Improves a graph after its documents are published: judges names, describes, and embeds."""
