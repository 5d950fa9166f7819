"""The present names of a graph: kept, looked up, and resolved within a neighborhood."""
