"""Hands out new links of a running server to the user who started it.

A link works once, and a browser may lose its cookie, but a restart would cancel the runs. So the
server listens on a socket in a folder that only its user can enter; the operating system decides
who that is, and no secret is stored. What may read this user's files can have the link.
"""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

from platformdirs import user_data_path

from pgs_neo4j.errors import UsageError

ANSWER_S = 5.0
LONGEST = 4096
"""Bytes of a link."""
ASKED = b"link"
MOST_PATH = 100
"""Bytes of the address of a socket on every system."""
DESCRIPTORS = Path("/proc/self/fd")


@asynccontextmanager
async def offer_links(port: int, new_link: Callable[[], str]) -> AsyncIterator[None]:
    """Give a new link to each program of this user that asks, while the block runs.

    Without a folder that is private, or with another server of the port, there is nobody to ask;
    the server works all the same.
    """
    path = await _free_path(port)
    if path is None:
        yield
        return

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(ANSWER_S):
                if await reader.read(len(ASKED)) == ASKED:  # else it only looked for a server
                    writer.write(new_link().encode())
                    await writer.drain()
        writer.close()

    try:
        with _short(path) as short:
            server = await asyncio.start_unix_server(answer, short)
    except OSError:
        yield
        return
    try:
        yield
    finally:
        server.close()
        path.unlink(missing_ok=True)


async def ask_link(port: int) -> str:
    """Return a new link of the server of this user on a port. Raises UsageError without one."""
    path = _path(port)
    try:
        if path is None:
            raise FileNotFoundError
        async with asyncio.timeout(ANSWER_S):
            with _short(path) as short:
                reader, writer = await asyncio.open_unix_connection(short)
            writer.write(ASKED)
            link = (await reader.read(LONGEST)).decode()
            writer.close()
    except (OSError, TimeoutError):
        link = ""
    if not link:
        raise UsageError(
            f"no server that you started runs on port {port} of this machine; name its port with "
            "--port, or start one with 'pgs serve'"
        )
    return link


async def _free_path(port: int) -> Path | None:
    """Return the path of a socket that no server listens on; None without such a path."""
    path = _path(port)
    if path is None:
        return None
    try:
        async with asyncio.timeout(ANSWER_S):
            with _short(path) as short:
                _, writer = await asyncio.open_unix_connection(short)
    except ConnectionRefusedError:  # a server was killed
        path.unlink(missing_ok=True)
        return path
    except FileNotFoundError:
        return path
    except (OSError, TimeoutError):
        return None
    writer.close()
    return None


def _path(port: int) -> Path | None:
    """Return the path of the socket; None if its folder would not be private."""
    if sys.platform == "win32":
        return None
    folder = user_data_path("pgs-neo4j") / "serve"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = folder.lstat()
    except OSError:
        return None
    private = stat.S_ISDIR(state.st_mode) and state.st_uid == os.geteuid()
    if not private or stat.S_IMODE(state.st_mode) & 0o077:
        return None
    return folder / f"{port}.sock"


@contextmanager
def _short(path: Path) -> Iterator[str]:
    """Yield a name of a path that is short enough for the address of a socket, where there is one.

    Linux names an open folder by its descriptor.
    """
    if len(os.fsencode(path)) <= MOST_PATH or not DESCRIPTORS.is_dir():
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        yield str(DESCRIPTORS / str(folder) / path.name)
    finally:
        os.close(folder)
