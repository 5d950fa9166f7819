"""Where partitions stand on a map is computed once, and outlasts the server that computed it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from pgs_neo4j.browse import maps
from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import DatabaseError
from tests.conftest import Endpoint
from tests.engines import KNOBS, engine_on, engine_on_papers
from tests.serving import served

KEPT = "MATCH (c:PgsGeneration) RETURN count(c) AS generations, count(c.place) AS kept"
PATH = "/api/graphs/papers/map"


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    async with engine_on_papers(endpoint, db) as opened:
        await opened.partition("papers")
        yield opened


def forbid_computing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let positions only be read."""

    def never(*_: Any) -> Any:
        raise AssertionError("positions were computed again")

    monkeypatch.setattr(maps, "lay_out", never)


async def kept(db: Database) -> tuple[int, int]:
    """How many generations there are, and of how many positions are kept."""
    _, (row,) = await db.call(KEPT, {}, "read")
    return row["generations"], row["kept"]


async def test_a_restarted_server_computes_no_positions_again(
    endpoint: Endpoint, db: Database, pgs: PGS, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(pgs) as server, server.owner() as owner:
        first = (await owner.get(PATH)).json()
    assert await kept(db) == (1, 1)
    forbid_computing(monkeypatch)
    async with engine_on(endpoint, **KNOBS) as other:
        async with served(other) as server, server.owner() as owner:
            assert (await owner.get(PATH)).json() == first
        # Keeping it was no change of the graph, nor of what a generation is.
        drift = await other.partitions.check("papers", scan=False)
        assert drift is not None
        assert not drift.committed
        assert await other.partitions.generation("papers") == await pgs.generation("papers")


async def test_a_server_that_only_reads_keeps_nothing(db: Database, pgs: PGS) -> None:
    async with served(pgs, read_only=True) as server, server.owner() as owner:
        assert len((await owner.get(PATH)).json()["places"]) == 4
    assert await kept(db) == (1, 0)
    await pgs.browse.map("papers")
    assert await kept(db) == (1, 0)


async def test_a_map_is_shown_though_it_cannot_be_kept(
    db: Database, pgs: PGS, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: Any, **__: Any) -> Any:
        raise DatabaseError("this user may not write")

    monkeypatch.setattr(Database, "write", refuse)
    assert len((await pgs.browse.map("papers", store=True)).places) == 4
    assert await kept(db) == (1, 0)


async def test_each_generation_keeps_its_own_and_both_go_with_the_graph(
    db: Database, pgs: PGS
) -> None:
    before = await pgs.browse.map("papers", store=True)
    await pgs.partitions.build("papers", force=True)
    after = await pgs.browse.map("papers", store=True)
    assert before.generation != after.generation
    generations, positions = await kept(db)
    assert generations == positions >= 1
    await pgs.remove_graph("papers")
    assert await kept(db) == (0, 0)
