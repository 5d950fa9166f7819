"""Streams on a real server: many that are idle hold up nobody."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
import pytest

from pgs_neo4j.events import OnEvent, Warned
from pgs_neo4j.web import serve
from tests.fakes.working_engine import AWAY, WorkingEngine
from tests.serving import Told, events, served
from tests.thorough import tries

IDLE = tries(50, 300)
LONG_S = 120.0


async def ask(owner: httpx2.AsyncClient, question: str) -> str:
    """Ask a question; returns the path of its events."""
    asked = await owner.post("/api/runs", json={"question": question})
    assert asked.status_code == 202, asked.text
    return str(asked.json()["events"])


async def test_idle_streams_hold_up_nobody_and_end_with_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(serve, "STOP_S", LONG_S)  # a busy machine may not cut them
    go = asyncio.Event()

    async def work(question: str, hear: OnEvent) -> None:
        if question == "idle":
            await go.wait()
            hear(Warned("at last"))
            await asyncio.Event().wait()
        for number in range(300):
            hear(Warned(f"number {number}"))
            await asyncio.sleep(0)
        raise AWAY

    def follow(path: str, came: dict[str, asyncio.Event]) -> Any:
        """Read a stream to its end; ``came`` tells when some events arrived."""

        def note(told: Told) -> bool:
            if told.name in came:
                came[told.name].set()
            return False

        return events(owner, path, until=note)

    limits = httpx2.Limits(max_connections=None)
    async with (
        served(WorkingEngine(work).as_pgs()) as server,
        server.owner(limits=limits) as owner,
        asyncio.timeout(LONG_S),
        asyncio.TaskGroup() as group,
    ):
        path = await ask(owner, "idle")
        came = [{name: asyncio.Event() for name in ("accepted", "warned")} for _ in range(IDLE)]
        reading = [group.create_task(follow(path, one)) for one in came]
        for one in came:
            await one["accepted"].wait()
        for _ in range(20):
            assert (await owner.get("/api/health")).status_code == 200
        told = await events(owner, await ask(owner, "busy"))
        assert [one.id for one in told] == list(range(1, 303))
        assert (told[0].name, told[-1].name) == ("accepted", "failed")
        go.set()
        for one in came:
            await one["warned"].wait()
        server.task.cancel()
        for heard in await asyncio.gather(*reading):
            assert [one.id for one in heard] == [1, 2, 3, 4]
            assert "stopping" in [one.name for one in heard]
