"""A TCP proxy on loopback that can cut, refuse, and swallow what passes through it."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

COMMIT = b"\xb0\x12\x00\x00"  # the commit message of Bolt, and the end of its chunk
TO_COMMIT_S = 0.5  # that the server needs to commit


@dataclass(slots=True)
class Proxy:
    """A running proxy. ``cut`` ends all connections and refuses new ones until ``mend``.

    ``lost_commits`` is the number of commits that reach the server while their answers do not reach
    the client. ``swallowed`` is set when the black hole has taken something. A slow link delays
    each direction by ``latency_s``, and transfers at most ``bytes_per_s``. The other side hears of
    a closed connection after ``closing_s``.
    """

    host: str
    port: int
    listening: int = 0
    broken: bool = False
    black_hole: bool = False
    lost_commits: int = 0
    closing_s: float = 0.0
    latency_s: float = 0.0
    bytes_per_s: float = math.inf
    swallowed: asyncio.Event = field(default_factory=asyncio.Event)
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)

    def cut(self) -> None:
        """End every connection, and refuse new ones."""
        self.broken = True
        for writer in self._writers:
            writer.transport.abort()

    def mend(self) -> None:
        """Let connections through again."""
        self.broken = self.black_hole = False

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Connect one client with the server, and pass on their data."""
        if self.broken:
            writer.transport.abort()
            return
        self._writers.add(writer)
        far_reader, far_writer = await asyncio.open_connection(self.host, self.port)
        self._writers.add(far_writer)
        if self.broken:  # the proxy was cut while this connected
            self.cut()
        try:
            await asyncio.gather(
                self._pump(reader, far_writer, commits_of=writer),
                self._pump(far_reader, writer),
            )
        finally:
            self._writers -= {writer, far_writer}

    async def _pump(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        commits_of: asyncio.StreamWriter | None = None,
    ) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                if self.black_hole:
                    self.swallowed.set()
                    continue
                await asyncio.sleep(self.latency_s + len(data) / self.bytes_per_s)
                lost = commits_of is not None and self.lost_commits > 0 and COMMIT in data
                if lost and commits_of is not None:
                    self.lost_commits -= 1
                    commits_of.transport.abort()
                writer.write(data)
                await writer.drain()
                if lost:
                    await asyncio.sleep(TO_COMMIT_S)
                    break
        await asyncio.sleep(self.closing_s)
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


@asynccontextmanager
async def proxy(host: str, port: int) -> AsyncIterator[Proxy]:
    """Yield a proxy in front of ``host:port``, which listens on a free loopback port."""
    running = Proxy(host, port)
    server = await asyncio.start_server(running.serve, "127.0.0.1", 0)
    running.listening = server.sockets[0].getsockname()[1]
    try:
        yield running
    finally:
        running.cut()
        server.close()
        await server.wait_closed()
