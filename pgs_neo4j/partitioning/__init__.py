"""Partitions a graph: scans it, finds communities, keeps them within limits, stores them."""
