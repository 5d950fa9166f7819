"""Jobs of this process: at most one on a graph, each with its events."""
