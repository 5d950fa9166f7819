"""Small segments of the text index are merged; nothing is lost if that fails."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from pgs_neo4j.database.connection import Database, Row
from pgs_neo4j.database.queries import Query
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import DatabaseUnavailableError
from pgs_neo4j.model import GraphMapping
from pgs_neo4j.partitioning import result
from pgs_neo4j.partitioning.describe import indexing
from pgs_neo4j.retrieval.evidence import EvidenceOrder, find_evidence
from tests.conftest import Endpoint
from tests.engines import engine_on_papers
from tests.graphs import count
from tests.integration.test_evidence import LOOSE, LOOSE_CELLS, SEGMENTS, change, home
from tests.leftovers import expire

# The papers have four partitions; these are in one each.
CHANGED = ["doi/1", "doi/47", "doi/81"]
UNCHANGED = "doi/150"


@pytest.fixture
async def pgs(
    endpoint: Endpoint, db: Database, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[PGS]:
    """An engine on four topics of papers whose index may have two small segments."""
    monkeypatch.setattr(indexing, "MOST_SMALL", 2)
    async with engine_on_papers(endpoint, db, keep_generations=1) as opened:
        await opened.partition("papers")
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


async def test_many_refreshes_leave_few_segments(pgs: PGS, db: Database) -> None:
    most = 0
    for _ in range(3):
        for place, doi in enumerate(CHANGED):
            await change(db, doi, f"All of a sudden it treats zymurgy{place}.")
            await pgs.partition("papers")
            await change(db, doi, f"It treats zymurgy{place}.")
            await pgs.partition("papers")
            most = max(most, await count(db, SEGMENTS))
        assert await all_are_found(db)
    assert most <= 3  # two small ones, and that of the partitions that just changed
    assert await count(db, LOOSE) == 0
    assert await count(db, LOOSE_CELLS) == 0


def failing(at: int) -> tuple[Callable[..., Any], list[str]]:
    """A write that fails from number ``at`` on, and the names of what was written."""
    seen: list[str] = []
    write = Database.write

    async def replaced(db: Database, query: Query, **params: Any) -> list[Row]:
        seen.append(query.name)
        if len(seen) >= at:
            raise DatabaseUnavailableError(f"gone before {query.name}")
        return await write(db, query, **params)

    return replaced, seen


async def test_a_crash_at_any_write_loses_no_text(
    pgs: PGS, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place, doi in enumerate(CHANGED):
        await change(db, doi, f"All of a sudden it treats zymurgy{place}.")
    await pgs.partition("papers")
    monkeypatch.setattr(indexing, "MOST_SMALL", 0)  # every refresh merges
    merged = 0
    for at in range(1, 40):
        await change(db, "doi/2", f"Version {at}.")
        replaced, seen = failing(at)
        with monkeypatch.context() as patch:
            patch.setattr(Database, "write", replaced)
            try:
                await pgs.partition("papers")
            except DatabaseUnavailableError:
                pass
            else:
                break
        merged = max(merged, seen.count("partitioning/write_segments"))
        assert await all_are_found(db)
        await expire(db)
    else:
        raise AssertionError("the refresh never came to its end")
    assert merged == 2
    await expire(db)  # the last write that failed was that of the lease
    await pgs.partition("papers", force=True)
    assert await all_are_found(db)
    assert await count(db, LOOSE) == 0
    assert await count(db, LOOSE_CELLS) == 0
