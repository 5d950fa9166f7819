"""Runs repartition and ingestion jobs at the times set in ``pgs.toml``."""
