"""Streams on a real server: hundreds that are idle, and one whose reader is slow."""

from __future__ import annotations

import asyncio
import gc
import re
import resource
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import httpx2
import pytest

from pgs_neo4j.engine import StoredRun
from pgs_neo4j.events import OnEvent, Warned
from pgs_neo4j.web import serve
from pgs_neo4j.web.runs.log import MOST_ENTRIES, LoggedEvent
from tests.fakes.working_engine import AWAY, WorkingEngine
from tests.serving import Served, events, served
from tests.thorough import tries

IDLE = tries(50, 500)
FILES = 2 * IDLE + 300
"""Descriptors of both ends of the streams, and of whatever else the process has open."""
LONG_S = 120.0
ENDING = b"\r\n0\r\n\r\n"
"""What ends an answer that came in chunks."""
ID = re.compile(rb"^id: (\d+)\r?$", re.MULTILINE)
BEFORE, BURST, BURSTS = 4_000, 400, 30
MOST_WAITING = 512 * 1024
"""Bytes that may wait for a slow reader within the server."""


@pytest.fixture
def many_files() -> Iterator[None]:
    """Room for the descriptors, if the hard limit allows it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < FILES:
        pytest.skip(f"the hard limit of open files is {hard}, and this needs {FILES}")
    if soft != resource.RLIM_INFINITY and soft < FILES:
        resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@dataclass
class Stream:
    """A raw connection on which events come, and the bytes that were read of it."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    told: bytearray = field(default_factory=bytearray, repr=False)
    looked_at: int = 0

    async def until(self, part: bytes) -> None:
        """Read until some bytes have come after those of the last call."""
        while (place := self.told.find(part, self.looked_at)) < 0:
            more = await self.reader.read(65536)
            assert more, self.told[-200:]
            self.looked_at = max(self.looked_at, len(self.told) - len(part))
            self.told += more
        self.looked_at = place + len(part)

    async def rest(self) -> bytearray:
        """Read until the other side closes."""
        while more := await self.reader.read(65536):
            self.told += more
        return self.told

    def ids(self) -> list[int]:
        """The ids of the events so far."""
        return [int(one) for one in ID.findall(self.told)]


@asynccontextmanager
async def streaming(
    server: Served, owner: httpx2.AsyncClient, path: str, *, slow: bool = False
) -> AsyncIterator[Stream]:
    """Open a stream with the cookie of the owner. A slow reader has hardly any room."""
    host = server.base.removeprefix("http://")
    (cookie,) = owner.cookies.items()
    lines = (f"GET {path} HTTP/1.1", f"Host: {host}", f"Cookie: {cookie[0]}={cookie[1]}", "", "")
    connection = socket.socket()
    connection.setblocking(False)
    if slow:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    address = "127.0.0.1", int(host.rpartition(":")[2])
    await asyncio.get_running_loop().sock_connect(connection, address)
    reader, writer = await asyncio.open_connection(sock=connection, limit=1024 if slow else 2**16)
    try:
        writer.write("\r\n".join(lines).encode())
        yield Stream(reader, writer)
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def ask(owner: httpx2.AsyncClient, question: str) -> str:
    """Ask a question; returns the path of its events."""
    asked = await owner.post("/api/runs", json={"question": question})
    assert asked.status_code == 202, asked.text
    return str(asked.json()["events"])


async def test_idle_streams_hold_up_nobody_and_end_with_the_server(
    many_files: None, monkeypatch: pytest.MonkeyPatch
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

    async with (
        served(WorkingEngine(work).as_pgs()) as server,
        server.owner() as owner,
        asyncio.timeout(LONG_S),
        asyncio.TaskGroup() as group,
    ):
        path = await ask(owner, "idle")
        opened = [asyncio.Event() for _ in range(IDLE)]
        heard = [asyncio.Event() for _ in range(IDLE)]

        async def idle(number: int) -> bytearray:
            async with streaming(server, owner, path) as stream:
                await stream.until(b"event: accepted")
                opened[number].set()
                await stream.until(b"at last")
                heard[number].set()
                return await stream.rest()

        reading = [group.create_task(idle(number)) for number in range(IDLE)]
        for one in opened:
            await one.wait()
        for _ in range(20):
            assert (await owner.get("/api/health")).status_code == 200
        told = await events(owner, await ask(owner, "busy"))
        assert [one.id for one in told] == list(range(1, 303))
        assert (told[0].name, told[-1].name) == ("accepted", "failed")
        go.set()
        for one in heard:
            await one.wait()
        server.task.cancel()
        for ended in await asyncio.gather(*reading):
            assert ID.findall(ended) == [b"1", b"2", b"3", b"4"]
            assert b"event: stopping" in ended
            assert ended.endswith(ENDING), ended[-200:]


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> list[serve._Server]:
    """The servers of this test, whose connections it looks at."""
    made: list[serve._Server] = []

    class Seen(serve._Server):
        def __init__(self, config: Any) -> None:
            super().__init__(config)
            made.append(self)

    monkeypatch.setattr(serve, "_Server", Seen)
    return made


def waiting(server: serve._Server) -> int:
    """The most bytes that wait for one reader."""
    sizes = [one.transport.get_write_buffer_size() for one in server.server_state.connections]
    return max(sizes)


def kept() -> int:
    """How many events the process holds in all."""
    gc.collect()
    return sum(type(one) is LoggedEvent for one in gc.get_objects())


@pytest.mark.thorough  # tests of the log show the same of one reader without a socket
async def test_a_slow_reader_holds_up_nobody_and_holds_nothing(servers: list[Any]) -> None:
    begun, go, before = asyncio.Event(), asyncio.Semaphore(0), kept()

    async def work(question: str, hear: OnEvent) -> None:
        for number in range(BEFORE):
            hear(Warned(f"{number} {'x' * 2000}"))
        begun.set()
        for burst in range(BURSTS):
            await go.acquire()
            for number in range(BURST):
                hear(Warned(f"{BEFORE + BURST * burst + number} {'x' * 2000}"))
        raise AWAY

    properties = {"status": "failed", "question": "Why?"}
    stored = StoredRun("r000000000001", "papers", "default", None, False, False, properties)
    pgs = WorkingEngine(work, stored).as_pgs()
    last = BEFORE + BURST * BURSTS + 2  # with the first event, and the one that says how it ended
    async with served(pgs) as server, server.owner() as owner, asyncio.timeout(LONG_S):
        path = await ask(owner, "Why?")
        await begun.wait()
        async with (
            streaming(server, owner, path, slow=True) as slow,
            streaming(server, owner, path) as fast,
        ):
            await slow.until(b"event: accepted")
            for burst in range(BURSTS):
                await fast.until(b'"%d x' % (BEFORE + BURST * burst - 1))
                slow.told += await slow.reader.readexactly(64)
                assert waiting(servers[0]) <= MOST_WAITING
                go.release()
            await fast.until(b"event: failed")
            await fast.until(ENDING)
            assert fast.ids() == list(range(1, last + 1))
            assert MOST_ENTRIES // 2 < kept() - before <= MOST_ENTRIES + 100
            assert (await owner.get("/api/health")).status_code == 200
            await slow.until(ENDING)
            *first, end = slow.ids()
            assert (first, end) == (list(range(1, len(first) + 1)), last)
            assert len(first) < last - MOST_ENTRIES, "it missed some"
            assert b"event: snapshot" in slow.told[-1000:]
            assert b'"failed"' in slow.told[-1000:]
