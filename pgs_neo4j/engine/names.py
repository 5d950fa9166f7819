"""The names in a database, for completion on a command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgs_neo4j.engine import catalog
from pgs_neo4j.engine.catalog import StoredNames

if TYPE_CHECKING:
    from pgs_neo4j.engine.facade import PGS


async def read_names(pgs: PGS, limit: int) -> StoredNames:
    """Return at most ``limit`` names of each kind."""
    return await catalog.read_names(pgs.db, limit)
