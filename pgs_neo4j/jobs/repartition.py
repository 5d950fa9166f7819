"""The old import path of ``repartition`` until 0.1; use ``pgs.jobs.run``."""

from __future__ import annotations

from pgs_neo4j.engine.repartition import repartition

__all__ = ["repartition"]
