"""Gives new login links of a running server to the user who started it.

A link works only once, and a browser may lose its cookie, but a restart to get a new link would
cancel all runs. So the server also listens on a Unix socket in a folder that only its user can
enter. The operating system enforces this, and no secret is stored. Any program that can read this
user's files can get a link.
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
"""Maximum bytes of a link."""
ASKED = b"link"
MOST_PATH = 100
"""Maximum bytes of a socket address that all systems accept."""
DESCRIPTORS = Path("/proc/self/fd")


@asynccontextmanager
async def offer_links(port: int, new_link: Callable[[], str]) -> AsyncIterator[None]:
    """Give a new link to any program of this user that asks for it, until the block ends.

    Without a private folder, or if another server has the socket of this port, no links are given;
    otherwise the server works as usual.
    """
    path = await _find_free_path(port)
    if path is None:
        yield
        return

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(ANSWER_S):
                if await reader.read(len(ASKED)) == ASKED:  # else the client checked for a server
                    writer.write(new_link().encode())
                    await writer.drain()
        writer.close()

    try:
        with _shorten_path(path) as short_path:
            server = await asyncio.start_unix_server(answer, short_path)
    except OSError:
        yield
        return
    try:
        yield
    finally:
        server.close()
        path.unlink(missing_ok=True)


async def ask_link(port: int) -> str:
    """Return a new link from this user's server on a port. Raises UsageError without a server."""
    path = _find_socket_path(port)
    try:
        if path is None:
            raise FileNotFoundError
        async with asyncio.timeout(ANSWER_S):
            with _shorten_path(path) as short_path:
                reader, writer = await asyncio.open_unix_connection(short_path)
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


async def _find_free_path(port: int) -> Path | None:
    """Return the path of the port's socket; None if a server uses it, or it is not private."""
    path = _find_socket_path(port)
    if path is None:
        return None
    try:
        async with asyncio.timeout(ANSWER_S):
            with _shorten_path(path) as short_path:
                _, writer = await asyncio.open_unix_connection(short_path)
    except ConnectionRefusedError:  # the socket was left by a killed server
        path.unlink(missing_ok=True)
        return path
    except FileNotFoundError:
        return path
    except (OSError, TimeoutError):
        return None
    writer.close()
    return None


def _find_socket_path(port: int) -> Path | None:
    """Return the path of the port's socket; None if its folder is not private."""
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
def _shorten_path(path: Path) -> Iterator[str]:
    """Yield a name of the path that is short enough for the address of a socket, if possible.

    On Linux, an open folder can also be named by its descriptor.
    """
    if len(os.fsencode(path)) <= MOST_PATH or not DESCRIPTORS.is_dir():
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        yield str(DESCRIPTORS / str(folder) / path.name)
    finally:
        os.close(folder)
