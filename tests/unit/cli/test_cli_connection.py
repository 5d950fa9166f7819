"""A command that connects: no silent wait, and fresh names for completion."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pgs_neo4j.cli import connection
from pgs_neo4j.engine import PGS
from pgs_neo4j.events import Event


@pytest.fixture
def refreshed(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """The databases whose names were refreshed: local or not."""
    heard: list[bool] = []

    async def refresh(pgs: object, *, local: bool) -> None:
        heard.append(local)

    @asynccontextmanager
    async def connect(**settings: Any) -> AsyncIterator[str]:
        await asyncio.sleep(0.05)
        await asyncio.sleep(0.05)  # on a busy machine both waits end at once, but not this one
        yield "engine"

    monkeypatch.setattr(connection, "refresh", refresh)
    monkeypatch.setattr(connection, "WAIT_S", 0.02)
    monkeypatch.setattr(PGS, "connect", connect)
    monkeypatch.setattr(PGS, "connect_without_models", connect)
    return heard


def listen(event: Event) -> None:
    """Stands in for a display of progress."""


@pytest.mark.parametrize("name", ["engine", "database"])
async def test_a_wait_is_told_where_nothing_else_tells_it(
    name: str, refreshed: list[bool], capsys: pytest.CaptureFixture[str]
) -> None:
    opening = getattr(connection, name)
    async with opening() as pgs:
        assert pgs == "engine"
        assert refreshed == []
    assert capsys.readouterr().err == "note: still waiting for the database\n"
    async with opening(listen, neo4j_uri="bolt://127.0.0.1:1"):
        pass
    assert capsys.readouterr().err == ""
    assert refreshed == [False, True]


async def test_an_error_is_passed_on_and_refreshes_nothing(refreshed: list[bool]) -> None:
    with pytest.raises(ValueError, match="x"):
        async with connection.database():
            raise ValueError("x")
    assert refreshed == []
