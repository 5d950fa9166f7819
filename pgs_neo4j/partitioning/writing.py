"""Writes the partitions of a new generation and describes them; what did not change is shared.

A partition that two generations share is one node with one set of members. They stand in it in
the order they stood in when it was made, although what they weigh may have changed a little.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.model import Generation, Partition, Unit
from pgs_neo4j.partitioning import enrich, generation, membership, units
from pgs_neo4j.partitioning.attempt import Attempt
from pgs_neo4j.partitioning.membership import Membership
from pgs_neo4j.partitioning.scan.view import View


@dataclass(frozen=True, slots=True)
class Source:
    """The generation before, and the ids of the partitions that are shared with it."""

    generation: Generation
    shared: Collection[int]


@dataclass(frozen=True, slots=True)
class Described:
    """Partitions by id, the units above them, and the words too common to be keywords."""

    partitions: Sequence[Partition]
    units: Sequence[Unit]
    common: tuple[str, ...]

    @property
    def dimensions(self) -> int | None:
        """Length of the centroids, None when there is none."""
        return next((len(p.centroid) for p in self.partitions if p.centroid is not None), None)


async def write(
    attempt: Attempt,
    name: str,
    parts: Sequence[Partition],
    members: Membership,
    source: Source | None,
) -> bool:
    """Write partitions, by id from 1, with whom they hold and whom they are adjacent to.

    False when nodes vanished meanwhile. Raises LeaseLostError.
    """
    shared = source.shared if source is not None else ()
    if source is not None and shared:
        await generation.share(attempt.db, attempt.graph, source.generation.id, name, shared)
    fresh = [part for part in parts if part.id not in shared]
    await generation.write_partitions(attempt.db, attempt.graph, name, fresh)
    keys = [part.uid for part in parts]
    links = [
        (keys[part.id - 1], keys[near.id - 1], near.edges, near.weight)
        for part in parts
        for near in part.adjacent
    ]
    await generation.write_adjacents(attempt.db, attempt.graph, name, links)
    chosen = members
    if shared:
        chosen = members.of(np.isin(members.partition, list(shared), invert=True))
    await membership.write_members(
        attempt.db, attempt.graph, name, keys, chosen, attempt.clock.on_event
    )
    return await membership.count_members(attempt.db, name) == len(members.nodes)


async def describe(
    attempt: Attempt,
    name: str,
    found: View,
    members: Membership,
    parts: Sequence[Partition],
    levels: Sequence[NDArray[np.int64]],
    source: Source | None,
) -> Described:
    """Describe what was written, and the units above. Raises LeaseLostError."""
    shared = source.shared if source is not None else ()
    kept = [part for part in parts if part.id in shared]
    fresh = [part for part in parts if part.id not in shared]
    known = source.generation.common if source is not None else ()
    described, common = await enrich.describe(attempt, name, found, members, fresh, kept, known)
    await generation.write_partitions(attempt.db, attempt.graph, name, described)
    whole = sorted([*kept, *described], key=lambda part: part.id)
    whole, above = units.build(whole, levels)
    await generation.write_units(attempt.db, attempt.graph, name, whole, above)
    return Described(whole, above, tuple(sorted(common)))
