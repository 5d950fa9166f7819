"""A generation with its partitions, just built or read back."""

from __future__ import annotations

from dataclasses import dataclass, field

from pgs_neo4j.database.connection import Database
from pgs_neo4j.errors import DatabaseError
from pgs_neo4j.model import Drift, Generation, Partition
from pgs_neo4j.partitioning import generation


@dataclass(frozen=True, slots=True)
class Partitioning:
    """A generation with its partitions; ``reused`` when nothing was computed.

    ``drift`` is the graph's drift from the earlier generation, None without one. ``steps`` are the
    seconds of each step.
    """

    generation: Generation
    partitions: tuple[Partition, ...]
    reused: bool
    seconds: float
    steps: dict[str, float] = field(default_factory=dict)
    drift: Drift | None = None


async def read_current(db: Database, graph: str) -> Partitioning | None:
    """Return the current generation with its partitions; None before the first.

    Raises DatabaseError when the generation is deleted while it is read.
    """
    current = await generation.read_current(db, graph)
    return None if current is None else await read_partitions_of(db, graph, current)


async def read_generation(db: Database, generation_id: str) -> Partitioning:
    """Return a complete generation with its partitions, by its id.

    Raises DatabaseError if it does not exist.
    """
    stored = await generation.read(db, generation_id)
    return await read_partitions_of(db, stored.graph if stored else "", stored)


async def read_partitions_of(db: Database, graph: str, current: Generation | None) -> Partitioning:
    """Return a generation with all its partitions.

    Raises DatabaseError when some of the partitions, or the generation, are gone.
    """
    partitions = await generation.read_partitions(db, current.id) if current else []
    if current is None or len(partitions) != current.partition_count:
        raise DatabaseError(
            f"the partitions of graph {graph} were deleted while they were read, by a purge, "
            "a removal, or another partitioning; try again"
        )
    return Partitioning(current, tuple(partitions), reused=True, seconds=0.0)
