"""Reads and writes generations in the database.

A new generation is written beside the current one, under the lease of its graph, and becomes
current in one transaction. A job that takes over the lease abandons the unfinished generation. From
then on, all statements of the earlier job find no generation to write to.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.lease import Lease, generation_lost
from pgs_neo4j.database.queries import Row
from pgs_neo4j.errors import StoredDataError, TextDeletedError
from pgs_neo4j.model import Generation, Partition, Unit
from pgs_neo4j.pgs.partitioning import membership
from pgs_neo4j.pgs.partitioning.rows import (
    PartitionRow,
    UnitRow,
    centroid_of,
    damaged_generation,
    generation_of,
    partition_of,
    partition_row,
    uid,
    unit_of,
    unit_row,
)

PARTITION_BATCH = 500


async def begin(db: Database, lease: Lease, generation: str, properties: Row) -> None:
    """Create a generation that no reader sees yet. Repeating the call is harmless.

    Raises LeaseLostError when another job holds the lease, DatabaseError when the graph was
    removed.
    """
    rows = await db.write(
        queries.get("pgs/partitioning/create_generations"),
        graph=lease.graph,
        fence=lease.fence,
        id=generation,
        properties=properties,
    )
    if not rows:
        raise generation_lost(lease.graph)


async def write_partitions(
    db: Database, graph: str, generation: str, partitions: Sequence[Partition]
) -> None:
    """Create or update partitions. Raises LeaseLostError."""
    rows = [partition_row(partition) for partition in partitions]
    await _write_rows(db, graph, generation, rows)


async def write_adjacents(
    db: Database, graph: str, generation: str, links: Sequence[tuple[str, str, int, float]]
) -> None:
    """Link adjacent partitions of a generation.

    A link has a partition's uid, its neighbor's uid, the number of relationships between them, and
    their weight. Raises LeaseLostError.
    """
    names = ("source", "target", "edges", "weight")
    rows = [dict(zip(names, link, strict=True)) for link in links]
    await _write_rows(db, graph, generation, rows, "pgs/partitioning/write_adjacents")


async def write_reached(db: Database, graph: str, generation: str, rows: list[Row]) -> None:
    """Write the titles of linked nodes to the links between partitions. Raises LeaseLostError."""
    await _write_rows(db, graph, generation, rows, "pgs/partitioning/write_reached")


async def write_units(
    db: Database,
    graph: str,
    generation: str,
    partitions: Sequence[Partition],
    units: Sequence[Unit],
) -> None:
    """Write the hierarchy above the partitions. Raises LeaseLostError."""
    await _write_rows(db, graph, generation, [unit_row(generation, unit) for unit in units])
    links = [(part.uid, part.parent, 1) for part in partitions]
    links += [(uid(generation, unit.id, unit.level), unit.parent, unit.level + 1) for unit in units]
    rows = [
        {"child": child, "parent": uid(generation, parent, level)}
        for child, parent, level in links
        if parent is not None
    ]
    query = queries.get("pgs/partitioning/write_parents")
    for start in range(0, len(rows), PARTITION_BATCH):
        await db.write(query, rows=rows[start : start + PARTITION_BATCH])


async def _write_rows(
    db: Database,
    graph: str,
    generation: str,
    rows: list[Row],
    statement: str = "pgs/partitioning/write_partitions",
) -> None:
    query = queries.get(statement)
    for start in range(0, len(rows), PARTITION_BATCH):
        batch = rows[start : start + PARTITION_BATCH]
        try:
            written = await db.write(query, generation=generation, rows=batch)
        except TextDeletedError:
            # Empty the descriptions that quote deleted documents. The deletion does the same to
            # descriptions that are already stored.
            batch = [db.fence.without(row) if db.fence else row for row in batch]
            written = await db.write(query, generation=generation, rows=batch)
        if not written or written[0]["written"] != len(batch):
            raise generation_lost(graph)


async def share(
    db: Database, graph: str, source: str, generation: str, partition_ids: Collection[int]
) -> None:
    """Share partitions of ``source`` with a new generation.

    Raises LeaseLostError when one of the two generations was deleted.
    """
    rows = await db.write(
        queries.get("pgs/partitioning/write_shared"),
        source=source,
        generation=generation,
        partitions=list(partition_ids),
    )
    if not rows or rows[0]["shared"] != len(partition_ids):
        raise generation_lost(graph)


async def make_current(db: Database, graph: str, generation: str, properties: Row) -> None:
    """Make a generation the current one, in one transaction.

    A reader sees either the whole old generation or the whole new one. Raises LeaseLostError when
    the new one was abandoned.
    """
    rows = await db.write(
        queries.get("pgs/partitioning/set_current"),
        graph=graph,
        generation=generation,
        properties=properties,
    )
    if not rows:
        raise generation_lost(graph)


async def verify(db: Database, generation: str, token: str | None) -> None:
    """Record that a generation is valid as of a change token."""
    await db.write(queries.get("pgs/partitioning/set_verified"), generation=generation, token=token)


async def read_current(db: Database, graph: str) -> Generation | None:
    """Return the current generation of a graph; None before the first."""
    rows = await db.read(queries.get("pgs/partitioning/read_current"), graph=graph)
    return generation_of(graph, rows[0]["generation"]) if rows else None


async def read(db: Database, generation: str) -> Generation | None:
    """Return a complete generation by its id; None if there is no such generation."""
    rows = await db.read(queries.get("pgs/partitioning/generation_by_id"), generation=generation)
    return generation_of(rows[0]["graph"], rows[0]["generation"]) if rows else None


async def read_partitions(
    db: Database, generation: str, *, centroids: bool = True
) -> list[Partition]:
    """Return the partitions of a generation, by id.

    Without ``centroids``, all centroids are None. Reading thousands of centroids takes seconds.
    """
    rows = await db.read(
        queries.get("pgs/partitioning/read_partitions"), generation=generation, centroids=centroids
    )
    return [partition_of(cast("PartitionRow", part)) for row in rows for part in row["partitions"]]


async def read_centroids(
    db: Database, partitions: Sequence[Partition]
) -> dict[str, NDArray[np.float32] | None]:
    """Return the centroids ``(d,)`` of partitions by uid; None for a partition without one.

    Deleted partitions are left out.
    """
    rows = await db.read(
        queries.get("pgs/partitioning/read_centroids"), uids=[part.uid for part in partitions]
    )
    return {row["uid"]: centroid_of(row["centroid"]) for row in rows}


async def read_units(db: Database, generation: str) -> list[Unit]:
    """Return the hierarchy above a generation's partitions, by level and id."""
    rows = await db.read(queries.get("pgs/partitioning/read_units"), generation=generation)
    return [unit_of(cast("UnitRow", row)) for row in rows]


async def prune(db: Database, graph: str, keep: int) -> None:
    """Delete abandoned generations, and all but the newest ``keep`` generations.

    Generations that a session or a running run needs are kept.
    """
    rows = await db.write(queries.get("pgs/partitioning/mark_disposable"), graph=graph, keep=keep)
    if rows and rows[0]["ids"]:
        await _delete(db, rows[0]["ids"])
    await db.write(queries.get("pgs/partitioning/delete_segments"), graph=graph)


async def has_surplus(db: Database, graph: str, keep: int) -> bool:
    """Return whether there are more than ``keep`` generations, needed or not."""
    rows = await db.read(queries.get("pgs/partitioning/read_generations"), graph=graph)
    return len(rows[0]["ids"]) > keep


async def read_all(db: Database, graph: str) -> list[Generation]:
    """Return the complete generations of a graph, the latest first.

    A generation that another program has damaged comes last, without figures.
    """
    rows = await db.read(queries.get("pgs/partitioning/read_generations"), graph=graph)
    generations = [await _read_or_damaged(db, graph, generation) for generation in rows[0]["ids"]]
    complete = [found for found in generations if found is not None]
    return sorted(complete, key=lambda found: (found.created_at, found.id), reverse=True)


async def _read_or_damaged(db: Database, graph: str, generation: str) -> Generation | None:
    try:
        return await read(db, generation)
    except StoredDataError as error:
        return damaged_generation(graph, generation, str(error))


async def abandon(db: Database, generation: str) -> None:
    """Delete a generation unless it has become current."""
    rows = await db.write(queries.get("pgs/partitioning/mark_abandoned"), generations=[generation])
    if rows and rows[0]["ids"]:
        await _delete(db, rows[0]["ids"])


async def _delete(db: Database, generation_ids: list[str]) -> None:
    await membership.delete_members(db, generation_ids)
    await db.write(queries.get("pgs/partitioning/delete_generations"), generations=generation_ids)


async def delete_all(db: Database, graph: str) -> None:
    """Delete every generation of a graph."""
    rows = await db.read(queries.get("pgs/partitioning/read_generations"), graph=graph)
    await _delete(db, rows[0]["ids"])
    await db.write(queries.get("pgs/partitioning/delete_segments"), graph=graph)
