"""Writes and describes the partitions of a generation; unchanged ones are shared.

Two generations share a partition as one node with one set of members. The members keep the order in
which they were built, although their weights may have changed slightly.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.model import Generation, Partition, Unit
from pgs_neo4j.pgs.partitioning import generation, membership
from pgs_neo4j.pgs.partitioning.describe import enrich, units
from pgs_neo4j.pgs.partitioning.describe.indexing import merge_segments
from pgs_neo4j.pgs.partitioning.describe.titles import add_titles
from pgs_neo4j.pgs.partitioning.membership import Membership
from pgs_neo4j.pgs.partitioning.order import BuildOrder, BuildTools
from pgs_neo4j.pgs.partitioning.rows import generation_properties
from pgs_neo4j.pgs.partitioning.scan.view import View


@dataclass(frozen=True, slots=True)
class SharedPartitions:
    """The earlier generation and the ids of its partitions to share."""

    generation: Generation
    partition_ids: Collection[int]


@dataclass(frozen=True, slots=True)
class Described:
    """Partitions by id, the units above, and words too common as keywords."""

    partitions: Sequence[Partition]
    units: Sequence[Unit]
    common: tuple[str, ...]

    @property
    def dimensions(self) -> int | None:
        """Length of the centroids, None without any."""
        return next((len(p.centroid) for p in self.partitions if p.centroid is not None), None)


async def write(
    order: BuildOrder,
    tools: BuildTools,
    partitions: Sequence[Partition],
    members: Membership,
    shared: SharedPartitions | None,
) -> bool:
    """Write partitions, by id from 1, with members and adjacent partitions.

    False if nodes vanished. Raises LeaseLostError.
    """
    shared_ids = shared.partition_ids if shared is not None else ()
    if shared is not None and shared_ids:
        await generation.share(
            tools.db, order.graph, shared.generation.id, order.generation_id, shared_ids
        )
    fresh = [part for part in partitions if part.id not in shared_ids]
    await generation.write_partitions(tools.db, order.graph, order.generation_id, fresh)
    uids = [part.uid for part in partitions]
    links = [
        (uids[part.id - 1], uids[near.id - 1], near.edges, near.weight)
        for part in partitions
        for near in part.adjacent
    ]
    await generation.write_adjacents(tools.db, order.graph, order.generation_id, links)
    chosen = members
    if shared_ids:
        chosen = members.of(np.isin(members.partition_ids, list(shared_ids), invert=True))
    await membership.write_members(
        tools.db, order.graph, order.generation_id, uids, chosen, tools.timer.on_event
    )
    return await membership.count_members(tools.db, order.generation_id) == len(members.nodes)


async def describe(
    order: BuildOrder,
    tools: BuildTools,
    view: View,
    members: Membership,
    partitions: Sequence[Partition],
    levels: Sequence[NDArray[np.int64]],
    shared: SharedPartitions | None,
) -> Described:
    """Describe the written partitions and the units above. Raises LeaseLostError.

    Each of ``levels`` is ``(k,)``, as :func:`pgs_neo4j.graph.hierarchy.hierarchy` returns it.
    """
    shared_ids = shared.partition_ids if shared is not None else ()
    old = [part for part in partitions if part.id in shared_ids]
    fresh = [part for part in partitions if part.id not in shared_ids]
    common = shared.generation.common if shared is not None else ()
    described, common_now = await enrich.describe(order, tools, view, members, fresh, old, common)
    described = await add_titles(order, tools, view, members, partitions, described)
    if old:
        await merge_segments(order, tools, view, members, old)
    await generation.write_partitions(tools.db, order.graph, order.generation_id, described)
    whole = sorted([*old, *described], key=lambda part: part.id)
    whole, above = units.build(whole, levels)
    await generation.write_units(tools.db, order.graph, order.generation_id, whole, above)
    return Described(whole, above, tuple(sorted(common_now)))


async def make_current(
    order: BuildOrder, tools: BuildTools, finished: Generation, view: View
) -> None:
    """Make a finished generation the current one, with all its figures."""
    finished = replace(finished, seconds=dict(tools.timer.seconds))
    stored = generation_properties(finished, sketch=view.sketch.tolist())
    await generation.make_current(tools.db, order.graph, finished.id, stored)
