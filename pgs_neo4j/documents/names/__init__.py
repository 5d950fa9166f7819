"""Stores the present names of a graph, looks them up, and resolves the names near a change."""
