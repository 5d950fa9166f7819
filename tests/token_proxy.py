"""A proxy that adds a token to each request, for programs that cannot send one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from tests.serving import Served, free_port

Carry = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

HEAD_END = b"\r\n\r\n"


@asynccontextmanager
async def token_proxy(server: Served, token: str) -> AsyncIterator[str]:
    """Yield the address of a proxy in front of a server; each connection carries one request.

    The address of the proxy in ``Host`` becomes the address of the server. Any other host, and any
    origin, reaches the server unchanged.
    """
    host, port = server.base.removeprefix("http://").split(":")
    own = free_port()

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(HEAD_END)).removesuffix(HEAD_END).split(b"\r\n")
        lines = [
            line.replace(f":{own}".encode(), f":{port}".encode())
            if line.lower().startswith((b"host:", b"origin:"))
            else line
            for line in head
            if not line.lower().startswith(b"connection:")
        ]
        lines += [f"Authorization: Bearer {token}".encode(), b"Connection: close"]
        upstream, sending = await asyncio.open_connection(host, int(port))
        sending.write(b"\r\n".join(lines) + HEAD_END)
        up = asyncio.create_task(_copy(reader, sending))
        down = asyncio.create_task(_copy(upstream, writer))
        await asyncio.wait([up, down], return_when=asyncio.FIRST_COMPLETED)
        for task in (up, down):
            task.cancel()
        await asyncio.gather(up, down, return_exceptions=True)
        for one in (sending, writer):
            one.close()

    listening = await asyncio.start_server(_forgiving(carry), "127.0.0.1", own)
    try:
        yield f"http://127.0.0.1:{own}"
    finally:
        listening.close()


def _forgiving(carry: Carry) -> Carry:
    async def carried(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await carry(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            writer.close()  # one side has closed its connection

    return carried


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass on data until there is no more."""
    while some := await reader.read(65_536):
        writer.write(some)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()
