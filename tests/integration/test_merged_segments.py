"""Small segments of the text index are merged; nothing is lost if that fails."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import DatabaseUnavailableError
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.pgs.partitioning import result
from pgs_neo4j.pgs.partitioning.describe import indexing
from pgs_neo4j.search.evidence import EvidenceOrder, find_evidence
from tests.conftest import Endpoint
from tests.engines import engine_on_papers
from tests.graphs import count, home
from tests.integration.test_evidence import LOOSE, LOOSE_CELLS, SEGMENTS, change
from tests.leftovers import expire
from tests.write_faults import faulty_writes

# The papers have four partitions; these are in one each.
CHANGED = ["doi/1", "doi/47", "doi/81"]
UNCHANGED = "doi/150"
MOST_WRITES = 40


@pytest.fixture
async def pgs(
    endpoint: Endpoint, db: Database, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[PGS]:
    """An engine on four topics of papers whose index may have two small segments."""
    monkeypatch.setattr(indexing, "MOST_SMALL", 2)
    async with engine_on_papers(endpoint, db, keep_generations=1) as opened:
        await opened.partitions.build("papers")
        yield opened


async def all_are_found(db: Database) -> bool:
    """Whether each changed paper and another one are found by their words."""
    current = await result.read_current(db, "papers")
    assert current is not None
    words = [f"zymurgy{place}" for place in range(len(CHANGED))] + ["fact150"]
    for word, doi in zip(words, [*CHANGED, UNCHANGED], strict=True):
        order = EvidenceOrder(
            question=f"Is there anything on {word}?",
            mapping=GraphMapping(text=("abstract",)),
            generation=current.generation,
            partitions=current.partitions,
        )
        evidence = await find_evidence(db, order)
        if not evidence or not evidence.nodes or evidence.nodes[0].partition != await home(db, doi):
            return False
    return True


@pytest.mark.thorough
async def test_many_refreshes_leave_few_segments(pgs: PGS, db: Database) -> None:
    most = 0
    for _ in range(2):
        for place, doi in enumerate(CHANGED):
            await change(db, doi, f"All of a sudden it treats zymurgy{place}.")
            await pgs.partitions.build("papers")
            await change(db, doi, f"It treats zymurgy{place}.")
            await pgs.partitions.build("papers")
            most = max(most, await count(db, SEGMENTS))
        assert await all_are_found(db)
    assert most <= 3  # two small ones, and that of the partitions that just changed
    assert await count(db, LOOSE) == 0
    assert await count(db, LOOSE_CELLS) == 0


@pytest.mark.thorough
async def test_a_crash_at_any_write_loses_no_text(
    pgs: PGS, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place, doi in enumerate(CHANGED):
        await change(db, doi, f"All of a sudden it treats zymurgy{place}.")
    await pgs.partitions.build("papers")
    monkeypatch.setattr(indexing, "MOST_SMALL", 0)  # every refresh merges
    merged = 0
    with monkeypatch.context() as patch:
        faults = faulty_writes(patch)
        for at in range(1, MOST_WRITES):
            await change(db, "doi/2", f"Version {at}.")
            faults.arm("dead", at)
            with suppress(DatabaseUnavailableError):
                await pgs.partitions.build("papers")
            merged = max(merged, faults.seen.count("pgs/partitioning/describe/write_segments"))
            fired = faults.fired
            faults.arm("", 0)
            assert await all_are_found(db)
            await expire(db)
            if not fired:
                break
        else:
            raise AssertionError("the refresh never came to its end")
    assert merged == 2
    await pgs.partitions.build("papers", force=True)
    assert await all_are_found(db)
    assert await count(db, LOOSE) == 0
    assert await count(db, LOOSE_CELLS) == 0
