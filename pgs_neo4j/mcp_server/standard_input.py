"""Reads stdin line by line, so that a signal can end the wait for the next line.

The library reads in a thread that Python waits for at the end. A server whose client is silent
would outlast every signal. Memory is bounded as well, however long a line is, and however fast the
client sends.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

SIZE = 65_536
MOST_LINE = 1_000_000
"""Bytes of a line. A request has a few hundred, and none needs as many as this."""
KEPT = 1000
"""Bytes of both ends of a longer line that are kept, as they may show the id of a request."""
MOST_READ = 16
"""Pieces that are read before they are taken, so that a client that sends more has to wait."""


@dataclass(frozen=True, slots=True)
class LongLine:
    """The ends of a line that was too long to be kept."""

    begin: str
    end: str


async def read_lines(descriptor: int) -> AsyncIterator[str | LongLine]:
    """Yield the lines that arrive at a file descriptor, until its end."""
    loop = asyncio.get_running_loop()
    arrived: asyncio.Queue[bytes] = asyncio.Queue()
    free = threading.Semaphore(MOST_READ)

    def read() -> None:
        try:
            while True:
                free.acquire()
                data = _read(descriptor)
                loop.call_soon_threadsafe(arrived.put_nowait, data)
                if not data:
                    return
        except RuntimeError:  # the loop has closed, and nobody reads any more
            return

    threading.Thread(target=read, name="stdin", daemon=True).start()
    begun = _BegunLine()
    while data := await arrived.get():
        *pieces, rest = data.split(b"\n")
        for piece in pieces:
            begun.add(piece)
            yield begun.line
            begun = _BegunLine()
        begun.add(rest)
        free.release()
    if begun.data:
        yield begun.line


@dataclass(slots=True)
class _BegunLine:
    """What has arrived of a line: all of it, or its ends if it is too long."""

    data: bytearray = field(default_factory=bytearray)
    begin: bytes = b""

    def add(self, piece: bytes) -> None:
        self.data += piece
        if len(self.data) > MOST_LINE:
            self.begin = self.begin or bytes(self.data[:KEPT])
            del self.data[:-KEPT]

    @property
    def line(self) -> str | LongLine:
        if not self.begin:
            return _decoded(self.data)
        return LongLine(_decoded(self.begin), _decoded(self.data[-KEPT:]))


def _decoded(data: bytes | bytearray) -> str:
    return data.decode("utf-8", "replace")


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, SIZE)
    except OSError:
        return b""
