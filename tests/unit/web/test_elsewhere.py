"""Runs of other processes: told when their record changes, until they end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest

from pgs_neo4j.web.runs import elsewhere
from pgs_neo4j.web.runs.elsewhere import stream_snapshots


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look again at once."""
    monkeypatch.setattr(elsewhere, "LOOK_S", 0.0)


async def states(records: Iterator[dict[str, object]], stopped: asyncio.Event) -> list[object]:
    """What a stream tells of records that change."""

    async def snapshot() -> dict[str, object]:
        return next(records)

    told = [json.loads(one.raw_data or "") async for one in stream_snapshots(snapshot, stopped)]
    return [(one["state"], one.get("nodes_read")) for one in told]


async def test_a_record_is_told_when_it_has_changed_until_the_run_ends() -> None:
    running = [{"state": "running", "nodes_read": read} for read in (0, 0, 0, 5, 5)]
    records = iter([*running, {"state": "complete"}, {"state": "never seen"}])
    told = await states(records, asyncio.Event())
    assert told == [("running", 0), ("running", 5), ("complete", None)]


@pytest.mark.parametrize("state", ["complete", "silent", "cancelled", "failed"])
async def test_a_run_that_has_ended_is_told_once(state: str) -> None:
    assert await states(iter([{"state": state}]), asyncio.Event()) == [(state, None)]


async def test_the_end_of_the_server_ends_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elsewhere, "LOOK_S", 600.0)
    stopped = asyncio.Event()

    async def snapshot() -> dict[str, object]:
        return {"state": "running"}

    stream = stream_snapshots(snapshot, stopped)
    assert (await anext(stream)).event == "snapshot"
    stopped.set()
    async with asyncio.timeout(2):
        assert [one async for one in stream] == []
