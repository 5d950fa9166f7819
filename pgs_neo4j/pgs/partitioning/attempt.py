"""One attempt at a new generation: begun, then finished or abandoned."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from pgs_neo4j.database.tasks import to_the_end
from pgs_neo4j.errors import DatabaseError
from pgs_neo4j.pgs.partitioning import generation
from pgs_neo4j.pgs.partitioning.order import BuildOrder, BuildTools
from pgs_neo4j.pgs.partitioning.rows import definition_of


@asynccontextmanager
async def begin_generation(order: BuildOrder, tools: BuildTools) -> AsyncIterator[None]:
    """Begin the ordered generation; abandon it on failure."""
    try:
        properties = {
            "algorithm": order.config.algorithm,
            "definition": definition_of(order.mapping),
        }
        await generation.begin(tools.db, order.lease, order.generation_id, properties)
        yield
    except BaseException:
        # Shielded: a canceled attempt also removes its unfinished generation. A generation made
        # current before the failure stays.
        with suppress(DatabaseError):
            await to_the_end(generation.abandon(tools.db, order.generation_id))
        raise
