"""Repartition jobs at the times that ``pgs.toml`` sets."""
