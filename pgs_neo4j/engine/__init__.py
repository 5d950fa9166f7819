"""The engine: the one door to everything that pgs can do."""

from __future__ import annotations

from pgs_neo4j.engine.facade import PGS

__all__ = ["PGS"]
