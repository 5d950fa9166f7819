"""One attempt at a new generation: its lease, connections, and settings."""

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
from pgs_neo4j.partitioning.step_timer import StepTimer
from pgs_neo4j.retrieval.space import Space


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One scan of a graph and the generation built from it.

    ``token`` is the change token read before the scan. ``settings`` is the digest of everything
    but the graph that decides the outcome.
    """

    db: Database
    gds: GDS
    lease: Lease
    mapping: GraphMapping
    config: PGSConfig
    space: Space
    settings: str
    token: str | None
    timer: StepTimer

    @property
    def graph(self) -> str:
        """Name of the graph."""
        return self.lease.graph


@asynccontextmanager
async def begin_generation(attempt: Attempt) -> AsyncIterator[str]:
    """Begin a generation and yield its id; abandon it on failure."""
    generation_id = f"g{uuid4().hex[:12]}"
    try:
        await generation.begin(
            attempt.db, attempt.lease, generation_id, {"algorithm": attempt.config.algorithm}
        )
        yield generation_id
    except BaseException:
        # Shielded: a canceled attempt also removes its unfinished generation. A generation made
        # current before the failure stays.
        with suppress(DatabaseError):
            await to_the_end(generation.abandon(attempt.db, generation_id))
        raise
