"""No caller keeps others out of a server, from however many connections it asks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.web import serve as serving
from tests.conftest import Endpoint
from tests.engines import KNOBS, engine_on
from tests.graphs import papers
from tests.serving import Held, Served, entry, served

MOST = 100
PROXY = "127.0.0.1"


@pytest.fixture
async def engine(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    """An engine on papers that a server offers to three tenants, one of them without rights."""
    token = [entry("ann"), entry("bob"), entry("eve", role="reader")]
    async with engine_on(endpoint, **KNOBS, token=token) as opened:
        await opened.graphs.add("papers", await papers(db, 4, 20))
        await opened.partitions.build("papers")
        yield opened


async def test_streams_of_one_caller_leave_room_for_others_behind_a_proxy(
    engine: PGS, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "MOST_CONNECTIONS", MOST)
    held = Held(engine)
    async with served(engine, proxies=(PROXY,)) as server:
        statuses = await crowd(server)
        assert statuses.count(200) == MOST // 4
        assert statuses.count(503) == MOST - MOST // 4
        async with server.client("pgs_ann") as ann:  # what has ended leaves room again
            async with asyncio.timeout(20):
                while (await ann.get("/api/me")).status_code != 200:
                    await asyncio.sleep(0.05)
        held.go.set()


async def crowd(server: Served) -> list[int]:
    """Follow a run by as many streams as there are connections, and return what each is told.

    Others are answered as long as they last.
    """
    async with AsyncExitStack() as streams:
        ann = await streams.enter_async_context(server.client("pgs_ann"))
        body = {"question": "Why?", "graph": "papers", "full_sweep": True}
        run = (await ann.post("/api/runs", json=body)).json()
        statuses = []
        for _ in range(MOST):
            one = await streams.enter_async_context(server.client("pgs_ann"))
            stream = await streams.enter_async_context(one.stream("GET", run["events"]))
            statuses.append(stream.status_code)
            if stream.status_code != 200:
                assert "ann has 25 requests in progress" in (await stream.aread()).decode()
        for name in ("bob", "eve"):
            async with server.client(f"pgs_{name}") as other:
                assert (await other.get("/api/me")).status_code == 200
        async with server.owner() as owner:
            assert (await owner.get("/api/graphs")).status_code == 200
        return statuses
