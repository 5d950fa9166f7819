"""Refreshes a generation in which no relationship changed, only node contents.

The partitions stay what they are. Those in which a text, weight, or embedding changed are written
and described again; the others are shared with the earlier generation. Partitions that a run is
reading from that generation do not change.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.database.connection import Database
from pgs_neo4j.model import Partition
from pgs_neo4j.pgs.partitioning import generation, writing
from pgs_neo4j.pgs.partitioning.attempt import begin_generation
from pgs_neo4j.pgs.partitioning.membership import Membership, rank_members
from pgs_neo4j.pgs.partitioning.order import BuildOrder, BuildTools
from pgs_neo4j.pgs.partitioning.predecessor import Predecessor
from pgs_neo4j.pgs.partitioning.rows import uid
from pgs_neo4j.pgs.partitioning.scan.view import TORN, View
from pgs_neo4j.pgs.partitioning.writing import SharedPartitions


async def refresh_generation(
    order: BuildOrder, tools: BuildTools, view: View, previous: Predecessor
) -> bool:
    """Write the refreshed generation and make it current.

    False if nodes vanished.
    """
    touched = set(previous.comparison.touched)
    shared = SharedPartitions(
        previous.generation, {part.id for part in previous.partitions} - touched
    )
    async with begin_generation(order, tools):
        members = rank_members(view, previous.labels)
        drafts = _redraft(order, view, members, previous)
        with tools.timer.step("write"):
            if not await writing.write(order, tools, drafts, members, shared):
                await generation.abandon(tools.db, order.generation_id)
                return False
        with tools.timer.step("enrich"):
            levels = await _levels(tools.db, previous)
            described = await writing.describe(order, tools, view, members, drafts, levels, shared)
        finished = replace(
            previous.generation,
            id=order.generation_id,
            fingerprint=view.fingerprint(order.settings),
            origin="refreshed",
            issues=view.issues | _kept_issues(previous),
            token=order.token,
            dimensions=described.dimensions,
            common=described.common,
            standing=dict(order.standing),
        )
        with tools.timer.step("flip"):
            await writing.make_current(order, tools, finished, view)
    return True


def _kept_issues(previous: Predecessor) -> dict[str, int]:
    """Return what was noticed of the partitions, which stay as they are."""
    torn = previous.generation.issues.get(TORN, 0)
    return {TORN: torn} if torn else {}


def _redraft(
    order: BuildOrder, view: View, members: Membership, previous: Predecessor
) -> list[Partition]:
    """Return the partitions by id, the touched ones with new uids."""
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


async def _levels(db: Database, previous: Predecessor) -> list[NDArray[np.int64]]:
    """Return, for each level ``(k,)``, the position of its units above."""
    above = await generation.read_units(db, previous.generation.id)
    if not above:
        return []
    levels = [[part.parent for part in previous.partitions]]
    top = max(unit.level for unit in above)
    levels += [[u.parent for u in above if u.level == level] for level in range(1, top)]
    return [np.asarray(level, dtype=np.int64) - 1 for level in levels]
