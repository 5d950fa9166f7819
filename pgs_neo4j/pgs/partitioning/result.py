"""Reads generations with their partitions, and caches the generations that were used last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.fence import read_token
from pgs_neo4j.database.portions import Recent
from pgs_neo4j.errors import DatabaseError
from pgs_neo4j.model import Drift, Generation, Partition
from pgs_neo4j.pgs.partitioning import generation
from pgs_neo4j.search.text_index import KnownTexts

MOST_KNOWN = 4  # cached generations of an engine; a generation of a million nodes takes about 50 MB


@dataclass(frozen=True, slots=True)
class Partitioning:
    """A generation with its partitions. ``reused`` is true if nothing was computed.

    ``drift`` is the graph's drift from the earlier generation, None without one. ``steps`` are the
    seconds of each step. ``outdated`` means that the graph may have changed since then, because
    this was not checked.
    """

    generation: Generation
    partitions: tuple[Partition, ...]
    reused: bool
    seconds: float
    steps: dict[str, float] = field(default_factory=dict)
    drift: Drift | None = None
    outdated: bool = False


@dataclass(frozen=True, slots=True)
class KnownGenerations:
    """An engine's cache of the generations that it used last, by generation id.

    The partitions of a complete generation change only when documents are deleted, so they are read
    once after each deletion. They are stored without centroids. ``texts`` says which texts are in
    the text index of a generation.
    """

    partitions: Recent[tuple[Partition, ...]] = field(default_factory=lambda: Recent(MOST_KNOWN))
    texts: KnownTexts = field(default_factory=lambda: Recent(MOST_KNOWN))


async def read_current(
    db: Database, graph: str, *, centroids: bool = True, known: KnownGenerations | None = None
) -> Partitioning | None:
    """Return the current generation with its partitions; None before the first.

    Without ``centroids``, the partitions have no centroids. Raises DatabaseError when the
    generation is deleted while it is read.
    """
    current = await generation.read_current(db, graph)
    if current is None:
        return None
    return await read_partitions_of(db, graph, current, centroids=centroids, known=known)


async def read_generation(
    db: Database,
    generation_id: str,
    *,
    centroids: bool = True,
    known: KnownGenerations | None = None,
) -> Partitioning:
    """Return a complete generation with its partitions, by its id.

    Without ``centroids``, the partitions have no centroids. Raises DatabaseError if the generation
    does not exist.
    """
    stored = await generation.read(db, generation_id)
    graph = stored.graph if stored else ""
    return await read_partitions_of(db, graph, stored, centroids=centroids, known=known)


async def read_partitions_of(
    db: Database,
    graph: str,
    current: Generation | None,
    *,
    centroids: bool = True,
    known: KnownGenerations | None = None,
) -> Partitioning:
    """Return a generation with all its partitions.

    Without ``centroids``, the partitions have no centroids, and partitions in ``known`` are not
    read again. Raises DatabaseError when some of the partitions, or the generation, were deleted.
    """
    if current is None:
        raise _make_deleted_error(graph)
    # A deletion of documents empties descriptions in the database, so the cache must miss then. The
    # token in the key changes with every deletion, even one by another process.
    token = await read_token(db) if known and not centroids else None
    key = f"{current.id} {token}"
    partitions = known.partitions.find(key) if known and token is not None else None
    if partitions is None:
        partitions = tuple(await generation.read_partitions(db, current.id, centroids=centroids))
        if len(partitions) != current.partition_count:
            raise _make_deleted_error(graph)
        if known and token is not None:
            known.partitions.keep(key, partitions)
    return Partitioning(current, partitions, reused=True, seconds=0.0)


async def add_centroids(
    db: Database, graph: str, partitions: Sequence[Partition]
) -> tuple[Partition, ...]:
    """Add the centroids to partitions that were read without them.

    Raises DatabaseError when some of the partitions were deleted.
    """
    centroids = await generation.read_centroids(db, partitions)
    if any(part.uid not in centroids for part in partitions):
        raise _make_deleted_error(graph)
    return tuple(replace(part, centroid=centroids[part.uid]) for part in partitions)


def _make_deleted_error(graph: str) -> DatabaseError:
    return DatabaseError(
        f"the partitions of graph {graph} were deleted while they were read, by a purge, "
        "a removal, or another partitioning; try again"
    )
