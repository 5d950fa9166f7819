"""A generation refreshed: only texts, weights, or embeddings changed, and no relationship.

The partitions stay what they are. Those in which something changed are written and described
anew, the others are shared with the generation before; what a run reads of that one is left
alone.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pgs_neo4j.partitioning import generation, writing
from pgs_neo4j.partitioning.attempt import Attempt, building
from pgs_neo4j.partitioning.build import flip
from pgs_neo4j.partitioning.membership import ranked
from pgs_neo4j.partitioning.predecessor import Before
from pgs_neo4j.partitioning.rows import uid
from pgs_neo4j.partitioning.scan.view import View
from pgs_neo4j.partitioning.writing import Source


async def refresh(attempt: Attempt, found: View, fingerprint: str, before: Before) -> bool:
    """Write the refreshed generation and make it current; False when nodes vanished meanwhile."""
    touched = set(before.compared.touched)
    source = Source(before.generation, {part.id for part in before.partitions} - touched)
    async with building(attempt) as name:
        members = ranked(found, before.labels)
        tokens = np.bincount(members.partition, found.tokens, len(before.partitions) + 1)
        drafts = [
            replace(part, uid=uid(name, part.id), tokens=int(tokens[part.id]), parent=None)
            if part.id in touched
            else part
            for part in before.partitions
        ]
        with attempt.clock.step("write"):
            if not await writing.write(attempt, name, drafts, members, source):
                await generation.abandon(attempt.db, name)
                return False
        with attempt.clock.step("enrich"):
            levels = await _levels(attempt, before)
            described = await writing.describe(
                attempt, name, found, members, drafts, levels, source
            )
        finished = replace(
            before.generation,
            id=name,
            fingerprint=fingerprint,
            origin="refreshed",
            issues=found.issues,
            token=attempt.token,
            dimensions=described.dimensions,
            common=described.common,
        )
        with attempt.clock.step("flip"):
            await flip(attempt, finished, found)
    return True


async def _levels(attempt: Attempt, before: Before) -> list[np.ndarray]:
    """The hierarchy before, as places: for each level where its units are on the one above."""
    above = await generation.read_units(attempt.db, before.generation.id)
    if not above:
        return []
    levels = [[part.parent for part in before.partitions]]
    top = max(unit.level for unit in above)
    levels += [[u.parent for u in above if u.level == level] for level in range(1, top)]
    return [np.asarray(level, dtype=np.int64) - 1 for level in levels]
