"""``pgs.ingest``: makes a graph from files."""
