"""Stores the present names of a graph, looks them up, and resolves them in a neighborhood."""
