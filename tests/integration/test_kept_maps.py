"""Where partitions stand on a map is computed once, and outlasts the server that computed it."""

from __future__ import annotations

from unittest.mock import AsyncMock

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.engine.browse import maps
from pgs_neo4j.errors import DatabaseError
from tests.conftest import Endpoint
from tests.database import fetch
from tests.engines import KNOBS, engine_on
from tests.serving import served

KEPT = "MATCH (c:PgsGeneration) RETURN count(c) AS generations, count(c.place) AS kept"
PATH = "/api/graphs/papers/map"


@pytest.fixture
async def pgs(pgs: PGS) -> PGS:
    """The same, partitioned."""
    await pgs.partitions.build("papers")
    return pgs


async def kept(db: Database) -> tuple[int, int]:
    """How many generations there are, and of how many positions are kept."""
    (row,) = await fetch(db, KEPT)
    return row["generations"], row["kept"]


@pytest.mark.thorough
async def test_a_restarted_server_computes_no_positions_again(
    endpoint: Endpoint, db: Database, pgs: PGS, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(pgs) as server, server.owner() as owner:
        first = (await owner.get(PATH)).json()
    assert await kept(db) == (1, 1)
    monkeypatch.setattr(maps, "lay_out", None)  # positions are not computed again
    async with engine_on(endpoint, **KNOBS) as other:
        async with served(other) as server, server.owner() as owner:
            assert (await owner.get(PATH)).json() == first
        # Keeping it was no change of the graph, nor of what a generation is.
        drift = await other.partitions.check("papers", scan=False)
        assert drift is not None
        assert not drift.committed
        here, there = pgs.partitions, other.partitions
        assert await there.generation("papers") == await here.generation("papers")


async def test_what_may_not_write_shows_a_map_and_keeps_nothing(
    db: Database, pgs: PGS, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(pgs, read_only=True) as server, server.owner() as owner:
        assert len((await owner.get(PATH)).json()["places"]) == 4
    await pgs.browse.map("papers")
    monkeypatch.setattr(Database, "write", AsyncMock(side_effect=DatabaseError("not this user")))
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
    await pgs.graphs.remove("papers")
    assert await kept(db) == (0, 0)
