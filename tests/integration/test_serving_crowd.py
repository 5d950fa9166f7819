"""Many clients at once, some of which lose their connection again and again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from random import Random

import httpx2
import pytest

from pgs_neo4j.database.connection import Database
from tests.conftest import Endpoint
from tests.engines import engine_on_papers
from tests.serving import Served, Told, events, served

CLIENTS = 12


@pytest.fixture
async def server(endpoint: Endpoint, db: Database) -> AsyncIterator[Served]:
    async with engine_on_papers(endpoint, db) as pgs:
        await pgs.partition("papers")
        async with served(pgs, max_runs=4) as running:
            yield running


def reached(after: int | None, draw: Random) -> Callable[[Told], bool]:
    """When to cut a stream that continues after some event."""
    last = (after or 0) + draw.randint(2, 9)
    return lambda told: told.id >= last


async def follow(client: httpx2.AsyncClient, path: str, draw: Random) -> list[Told]:
    """Read a stream to its end; every now and then it is cut and continued."""
    listed: list[Told] = []
    while not listed or listed[-1].name not in ("answered", "failed"):
        after = listed[-1].id if listed else None
        listed += await events(client, path, after=after, until=reached(after, draw))
    return listed


async def test_a_crowd_gets_every_event_once_and_in_order(server: Served) -> None:
    async with server.owner() as owner:
        draw = Random(7)

        async def ask(number: int) -> list[Told]:
            body = {"question": f"Why {number}?", "full_sweep": True, "session": f"s{number}"}
            run = (await owner.post("/api/runs", json=body)).json()
            seed = Random(draw.random())
            if number % 3 == 0:
                return await follow(owner, run["events"], seed)
            return await events(owner, run["events"])

        for told in await asyncio.gather(*map(ask, range(CLIENTS))):
            assert [one.id for one in told] == list(range(1, len(told) + 1))
            assert told[-1].name == "answered", told[-1].data
            assert [one.name for one in told].count("sweep_finished") == 4


async def test_idle_streams_cost_no_task_and_end_with_the_server(
    endpoint: Endpoint, db: Database
) -> None:
    """A reader that vanishes leaves nothing behind."""
    async with (
        engine_on_papers(endpoint, db) as pgs,
        served(pgs) as server,
        server.owner() as owner,
    ):
        body = {"question": "Why?", "full_sweep": True}
        run = (await owner.post("/api/runs", json=body)).json()
        await events(owner, run["events"])
        before = len(asyncio.all_tasks())
        for _ in range(20):
            await events(owner, run["events"], until=lambda told: told.id == 1)
        await asyncio.sleep(0.5)
        assert len(asyncio.all_tasks()) <= before + 4


async def test_a_stream_begins_at_once(server: Served) -> None:
    """The first event is there before the database is asked for anything."""
    async with server.owner() as owner:
        body = {"question": "Why?", "full_sweep": True}
        run = (await owner.post("/api/runs", json=body)).json()
        first = await events(owner, run["events"], until=lambda told: told.id == 1)
        assert (first[0].name, first[0].data["run"]) == ("accepted", run["run"])
        assert (await events(owner, run["events"]))[-1].name == "answered"
