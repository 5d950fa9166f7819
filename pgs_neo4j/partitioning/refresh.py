"""Refreshes a generation in which no relationship changed, only node contents.

The partitions stay what they are. Those in which a text, weight, or embedding changed are written
and described again; the others are shared with the earlier generation. Partitions that a run is
reading from that generation do not change.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pgs_neo4j.partitioning import generation, writing
from pgs_neo4j.partitioning.attempt import Attempt, begin_generation
from pgs_neo4j.partitioning.build import make_current
from pgs_neo4j.partitioning.membership import rank_members
from pgs_neo4j.partitioning.predecessor import Predecessor
from pgs_neo4j.partitioning.rows import uid
from pgs_neo4j.partitioning.scan.view import View
from pgs_neo4j.partitioning.writing import SharedPartitions


async def refresh_generation(
    attempt: Attempt, view: View, fingerprint: str, previous: Predecessor
) -> bool:
    """Write the refreshed generation and make it current.

    False if nodes vanished.
    """
    touched = set(previous.comparison.touched)
    shared = SharedPartitions(
        previous.generation, {part.id for part in previous.partitions} - touched
    )
    async with begin_generation(attempt) as generation_id:
        members = rank_members(view, previous.labels)
        tokens = np.bincount(members.partition_ids, view.tokens, len(previous.partitions) + 1)
        drafts = [
            replace(part, uid=uid(generation_id, part.id), tokens=int(tokens[part.id]), parent=None)
            if part.id in touched
            else part
            for part in previous.partitions
        ]
        with attempt.timer.step("write"):
            if not await writing.write(attempt, generation_id, drafts, members, shared):
                await generation.abandon(attempt.db, generation_id)
                return False
        with attempt.timer.step("enrich"):
            levels = await _levels(attempt, previous)
            described = await writing.describe(
                attempt, generation_id, view, members, drafts, levels, shared
            )
        finished = replace(
            previous.generation,
            id=generation_id,
            fingerprint=fingerprint,
            origin="refreshed",
            issues=view.issues,
            token=attempt.token,
            dimensions=described.dimensions,
            common=described.common,
        )
        with attempt.timer.step("flip"):
            await make_current(attempt, finished, view)
    return True


async def _levels(attempt: Attempt, previous: Predecessor) -> list[NDArray[np.int64]]:
    """Return, for each level ``(k,)``, the position of its units above."""
    above = await generation.read_units(attempt.db, previous.generation.id)
    if not above:
        return []
    levels = [[part.parent for part in previous.partitions]]
    top = max(unit.level for unit in above)
    levels += [[u.parent for u in above if u.level == level] for level in range(1, top)]
    return [np.asarray(level, dtype=np.int64) - 1 for level in levels]
