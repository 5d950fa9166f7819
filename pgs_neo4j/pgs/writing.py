"""Writes the partitions of a new generation and describes them; what did not change is shared.

A partition that two generations share is one node with one set of members. They stand in it in
the order they stood in when it was made, although what they weigh may have changed a little.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.model import Partition, Unit
from pgs_neo4j.pgs import enrich, generation, membership, units
from pgs_neo4j.pgs.attempt import Attempt
from pgs_neo4j.pgs.membership import Membership
from pgs_neo4j.pgs.view import View


async def write(
    attempt: Attempt,
    name: str,
    parts: Sequence[Partition],
    members: Membership,
    source: str | None = None,
    shared: Collection[int] = (),
) -> bool:
    """Write partitions, by id from 1, with whom they hold and whom they are adjacent to.

    Those whose ids are ``shared`` are there already, in the generation ``source``. False when
    nodes vanished meanwhile.
    """
    if source is not None and shared:
        await generation.share(attempt.db, attempt.graph, source, name, shared)
    fresh = [part for part in parts if part.id not in shared]
    await generation.write_partitions(attempt.db, attempt.graph, name, fresh)
    keys = [part.uid for part in parts]
    links = [
        (keys[part.id - 1], keys[near.id - 1], near.edges, near.weight)
        for part in parts
        for near in part.adjacent
    ]
    await generation.write_adjacents(attempt.db, name, links)
    chosen = members
    if shared:
        chosen = members.of(np.isin(members.partition, list(shared), invert=True))
    written = await membership.write_members(
        attempt.db, attempt.graph, name, keys, chosen, attempt.clock.on_event
    )
    return written == len(chosen.nodes)


async def describe(
    attempt: Attempt,
    name: str,
    found: View,
    members: Membership,
    parts: Sequence[Partition],
    levels: Sequence[NDArray[np.int64]],
    shared: Collection[int] = (),
) -> tuple[list[Partition], list[Unit]]:
    """Describe what was written, and the units above; returns both."""
    kept = [part for part in parts if part.id in shared]
    fresh = [part for part in parts if part.id not in shared]
    described = await enrich.describe(attempt, name, found, members, fresh, kept)
    await generation.write_partitions(attempt.db, attempt.graph, name, described)
    whole = sorted([*kept, *described], key=lambda part: part.id)
    whole, above = units.build(whole, levels)
    await generation.write_units(attempt.db, attempt.graph, name, whole, above)
    return whole, above
