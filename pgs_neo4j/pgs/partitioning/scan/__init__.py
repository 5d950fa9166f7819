"""Scans the mapped view of a graph."""
