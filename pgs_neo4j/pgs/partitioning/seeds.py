"""Marks a generation's partitions as seeds for GDS."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.gds import Seeds, seed_label
from pgs_neo4j.database.tasks import to_the_end
from pgs_neo4j.errors import DatabaseError


async def prepare_seeds(db: Database, graph: str) -> None:
    """Create the label of a graph's seeds and unmark all nodes.

    Called before a change token is read: the database counts a new name as a commit.
    """
    label = seed_label(graph)
    await db.write(queries.get("pgs/partitioning/create_seed_labels"), label=label)
    await clear_seeds(db, graph)


async def clear_seeds(db: Database, graph: str) -> None:
    """Remove the marks."""
    await db.write(queries.get("pgs/partitioning/delete_seeds"), label=seed_label(graph))


@asynccontextmanager
async def mark_seeds(db: Database, graph: str, generation: str) -> AsyncIterator[Seeds]:
    """Mark the partitions of a generation while GDS reads them."""
    label = seed_label(graph)
    rows = await db.write(
        queries.get("pgs/partitioning/set_seeds"), generation=generation, label=label
    )
    try:
        yield Seeds(label, int(rows[0]["marked"]))
    finally:
        with suppress(DatabaseError):
            await to_the_end(clear_seeds(db, graph))
