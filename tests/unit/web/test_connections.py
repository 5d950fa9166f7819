"""Clients that ask for nothing, or never finish asking, keep nobody out."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pgs_neo4j.config import PGSConfig, Settings
from pgs_neo4j.engine import PGS
from pgs_neo4j.web import serve as module
from pgs_neo4j.web.access import connections
from pgs_neo4j.web.access.connections import (
    BODY_S,
    BYTES_PER_S,
    CLOSING_S,
    HEAD_S,
    UNREAD_S,
    BoundedProtocol,
    Gate,
)
from tests.fakes.tokens import unchanged
from tests.serving import Served, served
from tests.timeless import Clock
from tests.waiting import until

RUNS = SimpleNamespace(deletion_token=unchanged)
ENGINE = cast(PGS, SimpleNamespace(settings=Settings(), config=PGSConfig(), runs=RUNS))
HOST = "Host: 127.0.0.1"
LOGIN = f"POST /api/login HTTP/1.1\r\n{HOST}\r\nContent-Type: application/json\r\n"
REFUSED = f"POST /api/runs HTTP/1.1\r\n{HOST}\r\nContent-Type: application/json\r\n"
HEALTH = f"GET /api/health HTTP/1.1\r\n{HOST}\r\n\r\n"


class Raw:
    """A connection that sends what a test writes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    def send(self, text: str) -> None:
        self.writer.write(text.encode())

    async def closed(self) -> bytes:
        """Wait until the server closes the connection, and return what it said."""
        said = b""
        try:
            while more := await self.reader.read(65536):
                said += more
        except ConnectionError:
            pass
        return said

    async def answer(self) -> bytes:
        """The head of the next answer."""
        return await self.reader.readuntil(b"\r\n\r\n")


async def seen(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""

    async def holds() -> bool:
        return condition()

    await until(holds, 60)


@asynccontextmanager
async def raw(server: Served, count: int = 1) -> AsyncIterator[list[Raw]]:
    """Some connections to a server."""
    port = int(server.base.rpartition(":")[2])
    opened = [Raw(*await asyncio.open_connection("127.0.0.1", port)) for _ in range(count)]
    try:
        yield opened
    finally:
        for one in opened:
            one.writer.close()


@pytest.fixture
def gates(monkeypatch: pytest.MonkeyPatch) -> list[Gate]:
    """The gates of the servers of a test."""
    made: list[Gate] = []

    class Noted(Gate):
        def __post_init__(self) -> None:
            Gate.__post_init__(self)
            made.append(self)

    monkeypatch.setattr(module, "Gate", Noted)
    return made


@pytest.mark.parametrize(
    ("sent", "seconds", "part"),
    [
        ("", HEAD_S, "head"),
        ("G", HEAD_S, "head"),
        (f"GET / HTTP/1.1\r\n{HOST}\r\nX-Slow: ", HEAD_S, "head"),
        (f"{LOGIN}Content-Length: 100\r\n\r\n", BODY_S, "body"),
        (f"{LOGIN}Content-Length: 100\r\n\r\n{{", BODY_S + 1, "body"),
        (f"{LOGIN}Transfer-Encoding: chunked\r\n\r\n5\r\n", BODY_S + 1, "body"),
        (f"{REFUSED}Content-Length: 100\r\n\r\n", HEAD_S, "rest"),  # has its answer, 401
        (f"{HEALTH}GET", HEAD_S, "head"),
    ],
)
async def test_a_request_that_does_not_come_whole_ends_in_its_time(
    clock: Clock, gates: list[Gate], sent: str, seconds: float, part: str
) -> None:
    async with served(ENGINE) as server, raw(server) as (slow,):
        slow.send(sent)
        if "health" in sent or sent.startswith(REFUSED):
            await slow.answer()
        (gate,) = gates
        await seen(lambda: gate.count == 1)
        (held,) = gate._open
        await seen(lambda: held._waits_for == part)
        clock.forward(seconds / 2)
        if sent:
            slow.send("a")  # a byte that comes alone changes nothing
            await seen(lambda: held._waits_for in (part, "gone"))
        clock.forward(seconds / 2 + 1)
        await slow.closed()
        await seen(lambda: gate.count == 0)
        assert held._timer is None


async def test_silent_connections_make_room_for_those_that_ask(
    monkeypatch: pytest.MonkeyPatch, gates: list[Gate]
) -> None:
    monkeypatch.setattr(module, "MOST_CONNECTIONS", 40)
    async with served(ENGINE) as server, raw(server, 60) as silent:
        for number, one in enumerate(silent):
            one.send(("", "GET / HT", f"{LOGIN}Content-Length: 9\r\n\r\n")[number % 3])
        (gate,) = gates
        await seen(lambda: gate.count <= 10)
        async with server.owner() as owner, server.client() as other:
            assert (await owner.get("/api/me")).status_code == 200
            assert (await other.get("/api/health")).status_code == 200
        assert gate.count <= 10


async def test_clients_of_a_proxy_share_all_connections(
    monkeypatch: pytest.MonkeyPatch, gates: list[Gate]
) -> None:
    monkeypatch.setattr(module, "MOST_CONNECTIONS", 20)
    async with (
        served(ENGINE, proxies=("127.0.0.0/8",)) as server,
        raw(server, 15) as used,
        raw(server, 30),
    ):
        (gate,) = gates
        await seen(lambda: gate.count == 19)
        for one in used:  # they were open before
            one.send(HEALTH)
        said = await asyncio.gather(*(one.closed() for one in used[:10]))
        assert said == [b""] * 10  # the oldest have made room
        async with server.client() as client:
            assert (await client.get("/api/health")).status_code == 200


async def test_an_answer_that_nobody_reads_ends(clock: Clock, gates: list[Gate]) -> None:
    async with served(ENGINE) as server, raw(server) as (deaf,):
        deaf.send(HEALTH)
        await deaf.answer()
        (gate,) = gates
        (held,) = gate._open
        held.pause_writing()
        clock.forward(UNREAD_S / 2)
        held.resume_writing()
        assert held._unread is None
        held.pause_writing()
        clock.forward(UNREAD_S + 1)
        await seen(lambda: gate.count == 0)


class Connection:
    """A connection that a gate may close."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate

    def cut(self) -> None:
        self.gate.leave(cast(BoundedProtocol, self))


def enter(gate: Gate, *addresses: str) -> list[Any]:
    """Connections from some addresses."""
    made = [Connection(gate) for _ in addresses]
    for one, address in zip(made, addresses, strict=True):
        gate.enter(cast(BoundedProtocol, one), address)
    return made


def test_the_address_with_the_find_connection_limit_makes_room_first() -> None:
    gate = Gate(9)
    first, *_ = enter(gate, "10.0.0.1", "10.0.0.2", "10.0.0.2", "10.0.0.3", "10.0.0.3")
    assert gate.count == 5
    third = enter(gate, "10.0.0.2")
    assert gate.count == 5  # two of an address are its share
    for one in third:
        gate.mark(one, None)
    enter(gate, *(f"10.0.1.{number}" for number in range(5)))
    assert gate.count == 8
    assert first in gate._open
    assert third[0] in gate._open  # it has asked


def test_those_that_send_a_body_stay_longer_than_those_that_are_silent() -> None:
    gate = Gate(400)
    sending = enter(gate, *["10.0.0.1"] * 50)
    for one in sending:
        gate.mark(one, "sending")
    enter(gate, *["10.0.0.1"] * 51)
    assert all(one in gate._open for one in sending)
    assert gate.count == 100
    for one in [*gate._open]:
        gate.mark(one, None)
    (new,) = enter(gate, "10.0.0.1")
    assert new not in gate._open  # all others are busy


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("10.0.0.1", "10.0.0.1", True),
        ("10.0.0.1", "10.0.0.2", False),
        ("::ffff:10.0.0.1", "10.0.0.1", True),
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("", "", True),
        ("fe80::1%eth0", "fe80::1%eth0", True),
    ],
)
def test_a_network_of_one_client_counts_once(one: str, other: str, same: bool) -> None:
    gate = Gate(100)
    assert (gate._find_network(one) == gate._find_network(other)) is same


def test_few_open_files_mean_few_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = {resource.RLIM_INFINITY: 2000, 65536: 2000, 1024: 768, 300: 100}
    for files, most in limits.items():
        monkeypatch.setattr(resource, "getrlimit", lambda _, files=files: (files, files))
        assert module._find_connection_limit() == most


def test_a_body_may_take_as_long_as_it_moves() -> None:
    assert BYTES_PER_S * BODY_S < 64 * 1024 * 2  # a slow line sends what a request may have
    assert CLOSING_S < HEAD_S <= BODY_S < UNREAD_S
    assert connections.SHARE > 1
