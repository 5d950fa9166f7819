"""``pgs.ingest``: files as a graph."""
