"""Paths at once: one that fails or hangs leaves the others."""

from __future__ import annotations

import asyncio

import pytest

from pgs_neo4j.errors import DatabaseError
from pgs_neo4j.search.paths import walk as module
from pgs_neo4j.search.paths.walk import Hits, walk


async def hits() -> Hits:
    return Hits("words", {"a": 1.0, "b": 0.5})


async def fails() -> Hits:
    raise DatabaseError("there is no such index")


async def hangs() -> Hits:
    await asyncio.sleep(60)
    return Hits("never")


async def test_each_path_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATH_S", 0.05)
    walked = await walk({"text": hits(), "vector": fails(), "hops": hangs()})
    assert [*walked] == ["text", "vector", "hops"]
    assert walked["text"].hits.scores == {"a": 1.0, "b": 0.5}
    assert (walked["text"].report.count, walked["text"].report.error) == (2, "")
    assert walked["vector"].report.error == "there is no such index"
    assert walked["hops"].report.error == "it took longer than 0.05 s"
    assert walked["hops"].hits.scores == {}
    assert 0.04 <= walked["hops"].report.seconds < 5


async def test_other_errors_are_raised() -> None:
    async def broken() -> Hits:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await walk({"text": hits(), "vector": broken()})
