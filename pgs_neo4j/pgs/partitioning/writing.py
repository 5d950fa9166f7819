"""Writes a generation: begins it, writes and describes its partitions, and makes it current.

Unchanged partitions are shared: two generations have the same node with the same members. The
members keep the order of the first build, although their weights may have changed slightly.

If no relationship of a graph changed, a refresh is enough. It only writes and describes again the
partitions in which a text, weight, or embedding changed. A run that still reads the earlier
generation sees no change.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.tasks import to_the_end
from pgs_neo4j.errors import DatabaseError
from pgs_neo4j.model import Generation, Partition, Unit
from pgs_neo4j.pgs.partitioning import generation, membership
from pgs_neo4j.pgs.partitioning.describe import enrich, units
from pgs_neo4j.pgs.partitioning.describe.indexing import merge_segments
from pgs_neo4j.pgs.partitioning.describe.titles import add_titles
from pgs_neo4j.pgs.partitioning.drift import Predecessor
from pgs_neo4j.pgs.partitioning.membership import Membership, rank_members
from pgs_neo4j.pgs.partitioning.order import BuildOrder, BuildTools
from pgs_neo4j.pgs.partitioning.rows import definition_of, generation_properties, uid
from pgs_neo4j.pgs.partitioning.view import TORN, View


@dataclass(frozen=True, slots=True)
class SharedPartitions:
    """The earlier generation and the ids of its partitions to share."""

    generation: Generation
    partition_ids: Collection[int]


@dataclass(frozen=True, slots=True)
class Described:
    """Partitions by id, the units above them, and the words that are too common to be keywords."""

    partitions: Sequence[Partition]
    units: Sequence[Unit]
    common: tuple[str, ...]

    @property
    def dimensions(self) -> int | None:
        """The length of the centroids; None if there are no centroids."""
        return next((len(p.centroid) for p in self.partitions if p.centroid is not None), None)


@asynccontextmanager
async def begin_generation(order: BuildOrder, tools: BuildTools) -> AsyncIterator[None]:
    """Begin the generation of an order; abandon it on failure. Raises LeaseLostError."""
    try:
        properties = {
            "algorithm": order.config.algorithm,
            "definition": definition_of(order.mapping),
        }
        await generation.begin(tools.db, order.lease, order.generation_id, properties)
        yield
    except BaseException:
        # The cleanup is shielded, so that even a canceled attempt removes its unfinished
        # generation. A generation that became current before the failure stays.
        with suppress(DatabaseError):
            await to_the_end(generation.abandon(tools.db, order.generation_id))
        raise


async def write(
    order: BuildOrder,
    tools: BuildTools,
    partitions: Sequence[Partition],
    members: Membership,
    shared: SharedPartitions | None,
) -> bool:
    """Write partitions, by id from 1, with their members and adjacent partitions.

    Returns False if nodes vanished. Raises LeaseLostError.
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
    """Describe the written partitions and the units above them. Raises LeaseLostError.

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


async def refresh_generation(
    order: BuildOrder, tools: BuildTools, view: View, previous: Predecessor
) -> bool:
    """Write the refreshed generation and make it current; return False if nodes vanished."""
    touched = set(previous.comparison.touched)
    shared = SharedPartitions(
        previous.generation, {part.id for part in previous.partitions} - touched
    )
    async with begin_generation(order, tools):
        members = rank_members(view, previous.labels)
        drafts = _redraft(order, view, members, previous)
        with tools.timer.step("write"):
            if not await write(order, tools, drafts, members, shared):
                await generation.abandon(tools.db, order.generation_id)
                return False
        with tools.timer.step("enrich"):
            levels = await _read_levels(tools.db, previous)
            described = await describe(order, tools, view, members, drafts, levels, shared)
        finished = replace(
            previous.generation,
            id=order.generation_id,
            fingerprint=view.fingerprint(order.settings),
            origin="refreshed",
            issues=view.issues | _keep_issues(previous),
            token=order.token,
            dimensions=described.dimensions,
            common=described.common,
            standing=dict(order.standing),
        )
        with tools.timer.step("flip"):
            await make_current(order, tools, finished, view)
    return True


def _keep_issues(previous: Predecessor) -> dict[str, int]:
    """Return the issues of the earlier partitions, which a refresh does not divide again."""
    torn = previous.generation.issues.get(TORN, 0)
    return {TORN: torn} if torn else {}


def _redraft(
    order: BuildOrder, view: View, members: Membership, previous: Predecessor
) -> list[Partition]:
    """Return the partitions by id.

    Touched partitions get new uids and new counts of texts and tokens.
    """
    touched = set(previous.comparison.touched)
    tokens = np.bincount(members.partition_ids, view.tokens, len(previous.partitions) + 1)
    texts = np.bincount(members.partition_ids, view.tokens > 0, len(previous.partitions) + 1)
    return [
        replace(
            part,
            uid=uid(order.generation_id, part.id),
            tokens=int(tokens[part.id]),
            texts=int(texts[part.id]),
            parent=None,
        )
        if part.id in touched
        else part
        for part in previous.partitions
    ]


async def _read_levels(db: Database, previous: Predecessor) -> list[NDArray[np.int64]]:
    """Return for each level an array ``(k,)`` with the positions of its parents, from 0."""
    above = await generation.read_units(db, previous.generation.id)
    if not above:
        return []
    levels = [[part.parent for part in previous.partitions]]
    top = max(unit.level for unit in above)
    levels += [[u.parent for u in above if u.level == level] for level in range(1, top)]
    return [np.asarray(level, dtype=np.int64) - 1 for level in levels]
