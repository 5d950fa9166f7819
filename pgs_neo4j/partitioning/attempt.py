"""What one attempt at a new generation works with, from its lease to its clock."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from uuid import uuid4

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.lease import Lease
from pgs_neo4j.database.tasks import to_the_end
from pgs_neo4j.errors import DatabaseError
from pgs_neo4j.gds import GDS
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.partitioning import generation
from pgs_neo4j.partitioning.step_times import Clock
from pgs_neo4j.retrieval.space import Space


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One scan of a graph and what follows from it.

    ``token`` was read before the scan, and ``settings`` is the digest of all that decides the
    outcome besides the graph.
    """

    db: Database
    gds: GDS
    lease: Lease
    mapping: GraphMapping
    config: PGSConfig
    space: Space
    settings: str
    token: str | None
    clock: Clock

    @property
    def graph(self) -> str:
        """Name of the graph."""
        return self.lease.graph


@asynccontextmanager
async def building(attempt: Attempt) -> AsyncIterator[str]:
    """The id of a new generation, which is given up when the work inside fails."""
    name = f"g{uuid4().hex[:12]}"
    try:
        await generation.begin(
            attempt.db, attempt.lease, name, {"algorithm": attempt.config.algorithm}
        )
        yield name
    except BaseException:
        # Shielded: a cancelled attempt, too, takes its unfinished generation with it. What was
        # made current before the failure stays.
        with suppress(DatabaseError):
            await to_the_end(generation.abandon(attempt.db, name))
        raise
