"""Partitions a graph: scans it, finds communities, applies limits, and stores the partitions."""
