"""New links come from a socket that only the user of the server can reach."""

from __future__ import annotations

import asyncio
import os
import socket
from itertools import count
from pathlib import Path

import pytest

from pgs_neo4j.errors import UsageError
from pgs_neo4j.web.access import new_links as module
from pgs_neo4j.web.access.new_links import ask_link, offer_links

PORT = 7475


@pytest.fixture(params=["home", "h" * 120])
def home(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of data, also one whose path is too long for the address of a socket."""
    folder = tmp_path / str(request.param)
    monkeypatch.setattr(module, "user_data_path", lambda app: folder / app)
    return folder / "pgs-neo4j" / "serve"


def make(home: Path, state: str) -> None:
    """Make the folder, or what stands in its place."""
    home.parent.mkdir(parents=True)
    if state == "link":
        (home.parent / "elsewhere").mkdir(mode=0o700)
        home.symlink_to(home.parent / "elsewhere")
    elif state == "file":
        home.write_text("")
    else:
        home.mkdir(mode=0o700)
        home.chmod(0o755 if state == "open" else 0o700)


def is_private(home: Path) -> bool:
    """Whether nobody else may enter the folder."""
    return home.stat().st_mode & 0o077 == 0


def sockets(folder: Path) -> list[Path]:
    """The sockets below a folder."""
    return [*folder.rglob("*.sock")]


async def test_each_program_that_asks_gets_a_link_of_its_own(home: Path) -> None:
    numbers = count()
    async with offer_links(PORT, lambda: f"link {next(numbers)}"):
        links = await asyncio.gather(*(ask_link(PORT) for _ in range(3)))
        assert sorted(links) == ["link 0", "link 1", "link 2"]
        assert await ask_link(PORT) == "link 3"
        assert is_private(home)
        async with offer_links(PORT, lambda: "another server"):  # leaves the first one alone
            assert await ask_link(PORT) == "link 4"
        assert await ask_link(PORT) == "link 5"
    assert sockets(home) == []
    with pytest.raises(UsageError, match="no server that you started runs on port 7475"):
        await ask_link(PORT)


async def test_a_server_takes_the_place_of_one_that_was_killed(home: Path) -> None:
    make(home, "private")
    with (
        module._shorten_path(home / f"{PORT}.sock") as path,
        socket.socket(socket.AF_UNIX) as killed,
    ):
        killed.bind(path)
    with pytest.raises(UsageError, match="no server"):
        await ask_link(PORT)
    async with offer_links(PORT, lambda: "link"):
        assert await ask_link(PORT) == "link"


@pytest.mark.parametrize("state", ["open", "link", "file", "another user's"])
async def test_a_folder_that_others_can_enter_is_not_used(
    home: Path, state: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(home, state)
    if state == "another user's":
        user = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    async with offer_links(PORT, lambda: "link"):
        with pytest.raises(UsageError, match="no server"):
            await ask_link(PORT)
    assert sockets(tmp_path) == []


async def test_a_program_that_asks_and_reads_nothing_holds_up_no_other(home: Path) -> None:
    async with offer_links(PORT, lambda: "link"):
        with module._shorten_path(home / f"{PORT}.sock") as path:
            _, silent = await asyncio.open_unix_connection(path)
        assert await ask_link(PORT) == "link"
        silent.close()
