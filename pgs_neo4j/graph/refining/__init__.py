"""Moves nodes between partitions where that gains modularity."""
