"""Reads stdin line by line, so that a signal can end the wait for the next line.

The library reads in a thread that Python waits for at the end. A server whose client is silent
would outlast every signal.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator

SIZE = 65_536


async def read_lines(descriptor: int) -> AsyncIterator[str]:
    """Yield the lines that arrive at a file descriptor, until its end."""
    loop = asyncio.get_running_loop()
    arrived: asyncio.Queue[bytes] = asyncio.Queue()

    def read() -> None:
        try:
            while True:
                data = _read(descriptor)
                loop.call_soon_threadsafe(arrived.put_nowait, data)
                if not data:
                    return
        except RuntimeError:  # the loop has closed, and nobody reads any more
            return

    threading.Thread(target=read, name="stdin", daemon=True).start()
    rest = b""
    while data := await arrived.get():
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            yield line.decode("utf-8", "replace")
    if rest:
        yield rest.decode("utf-8", "replace")


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, SIZE)
    except OSError:
        return b""
