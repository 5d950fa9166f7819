"""What happens to streams when tabs cancel together, or the database goes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx2

from pgs_neo4j.events import OnEvent, Warned
from tests.fakes.working_engine import AWAY, Work, WorkingEngine
from tests.serving import Served, events, served


async def serving(work: Work) -> AsyncIterator[tuple[Served, httpx2.AsyncClient, str]]:
    """A server, its owner, and the path of a run that was asked."""
    async with served(WorkingEngine(work).as_pgs()) as server, server.owner() as owner:
        asked = await owner.post("/api/runs", json={"question": "Why?"})
        assert asked.status_code == 202
        yield server, owner, f"/api/runs/{asked.json()['run']}"


async def test_two_tabs_cancel_one_run_and_hear_the_same() -> None:
    async def work(question: str, hear: OnEvent) -> None:
        await asyncio.Event().wait()

    async for server, owner, path in serving(work):
        async with server.client(cookies=owner.cookies) as other:
            for tab in (owner, other):
                await events(tab, f"{path}/events", until=lambda told: told.name == "accepted")
            reading = [asyncio.create_task(events(tab, f"{path}/events")) for tab in (owner, other)]
            answers = await asyncio.gather(owner.delete(path), other.delete(path))
            assert [answer.json()["state"] for answer in answers] == ["cancelled"] * 2
            one, same = await asyncio.gather(*reading)
            assert [told.name for told in one] == ["accepted", "cancelled"]
            assert one == same
            again = await owner.delete(path)
            assert (again.status_code, again.json()["state"]) == (202, "cancelled")


async def test_a_database_that_goes_ends_the_stream_with_what_to_do() -> None:
    go = asyncio.Event()

    async def work(question: str, hear: OnEvent) -> None:
        hear(Warned("before"))
        await go.wait()
        raise AWAY

    async for _, owner, path in serving(work):
        await events(owner, f"{path}/events", until=lambda told: told.name == "warned")
        reading = asyncio.create_task(events(owner, f"{path}/events"))
        shown = await owner.get(path)
        assert (shown.status_code, shown.json()["code"]) == (503, "database_unavailable")
        go.set()
        told = await reading
        assert [one.name for one in told] == ["accepted", "warned", "failed"]
        assert told[-1].data["code"] == "database_unavailable"
        assert told[-1].data["fix"] == "start it, and resume the run"
