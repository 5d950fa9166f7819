"""The import path of ``repartition`` until 0.1; ``pgs.jobs.run`` does the same."""

from __future__ import annotations

from pgs_neo4j.engine.repartition import repartition

__all__ = ["repartition"]
