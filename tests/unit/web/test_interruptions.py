"""What happens to streams when readers are slow, tabs cancel together, or the database goes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from types import SimpleNamespace
from typing import Any, cast

import httpx2
import pytest

from pgs_neo4j.config import PGSConfig, Settings
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import DatabaseUnavailableError
from pgs_neo4j.events import OnEvent, Warned
from tests.serving import Served, events, served

RUN = "r0123456789ab"
AWAY = DatabaseUnavailableError("the database is away; start it, and resume the run")

Work = Callable[[OnEvent], Awaitable[None]]


class Engine(SimpleNamespace):
    """An engine whose questions do some work."""

    def __init__(self, work: Work) -> None:
        async def execute(question: str, *, on_event: OnEvent, **_: object) -> None:
            await work(on_event)

        async def graph(name: str | None = None) -> SimpleNamespace:
            return SimpleNamespace(name="papers")

        async def stored(run: str) -> Any:
            raise AWAY

        super().__init__(
            settings=Settings(), config=PGSConfig(), execute=execute,
            graphs=SimpleNamespace(get=graph),
            runs=SimpleNamespace(new_id=lambda: RUN, get=stored),
        )  # fmt: skip


@pytest.fixture
def go() -> asyncio.Event:
    return asyncio.Event()


async def serving(work: Work) -> AsyncIterator[tuple[Served, httpx2.AsyncClient, str]]:
    """A server, its owner, and the path of a run that was asked."""
    async with served(cast(PGS, Engine(work))) as server, server.owner() as owner:
        asked = await owner.post("/api/runs", json={"question": "Why?"})
        assert asked.status_code == 202
        yield server, owner, f"/api/runs/{RUN}"


async def test_two_tabs_cancel_one_run_and_hear_the_same() -> None:
    async def work(hear: OnEvent) -> None:
        await asyncio.sleep(60)

    async for server, owner, path in serving(work):
        async with server.client(cookies=owner.cookies) as other:
            reading = [asyncio.create_task(events(tab, f"{path}/events")) for tab in (owner, other)]
            await asyncio.sleep(0.4)
            answers = await asyncio.gather(owner.delete(path), other.delete(path))
            assert [answer.json()["state"] for answer in answers] == ["cancelled"] * 2
            one, same = await asyncio.gather(*reading)
            assert [told.name for told in one] == ["accepted", "cancelled"]
            assert one == same
            again = await owner.delete(path)
            assert (again.status_code, again.json()["state"]) == (202, "cancelled")


async def test_a_database_that_goes_ends_the_stream_with_what_to_do(go: asyncio.Event) -> None:
    async def work(hear: OnEvent) -> None:
        hear(Warned("before"))
        await go.wait()
        raise AWAY

    async for _, owner, path in serving(work):
        reading = asyncio.create_task(events(owner, f"{path}/events"))
        await asyncio.sleep(0.4)
        shown = await owner.get(path)
        assert (shown.status_code, shown.json()["code"]) == (503, "database_unavailable")
        go.set()
        told = await reading
        assert [one.name for one in told] == ["accepted", "warned", "failed"]
        assert told[-1].data["code"] == "database_unavailable"
        assert told[-1].data["fix"] == "start it, and resume the run"


async def test_a_slow_reader_holds_up_nobody(go: asyncio.Event) -> None:
    async def work(hear: OnEvent) -> None:
        await go.wait()
        for number in range(3000):
            hear(Warned(f"{number} {'x' * 4000}"))
            if number % 50 == 0:
                await asyncio.sleep(0)
        raise AWAY

    async for server, owner, path in serving(work):
        host, port = server.base.removeprefix("http://").split(":")
        slow, writer = await asyncio.open_connection(host, int(port), limit=1024)
        (cookie,) = owner.cookies.items()
        lines = (
            f"GET {path}/events HTTP/1.1", f"Host: {host}:{port}",
            f"Cookie: {cookie[0]}={cookie[1]}", "", "",
        )  # fmt: skip
        writer.write("\r\n".join(lines).encode())
        assert b"200 OK" in await slow.readline()  # and no more
        go.set()
        async with asyncio.timeout(30):
            told = await events(owner, f"{path}/events")
        assert [told[0].name, told[-1].name, len(told)] == ["accepted", "failed", 3002]
        assert (await owner.get("/api/health")).status_code == 200
        writer.close()
