"""Partitions a graph: scan, find communities, apply limits, store."""
