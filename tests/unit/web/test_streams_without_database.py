"""A database that goes away ends open streams, and no fault of the server comes of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pgs_neo4j.engine import StoredRun
from pgs_neo4j.errors import DatabaseTimeoutError, DatabaseUnavailableError, UnknownRunError
from pgs_neo4j.text.json_data import Json
from pgs_neo4j.web.access.callers import OWNER
from pgs_neo4j.web.runs import elsewhere
from pgs_neo4j.web.runs.board import LiveRun
from pgs_neo4j.web.runs.log import EventLog
from pgs_neo4j.web.runs.stream import stream_events
from tests.in_process import in_process, serving_of

RUN = "r0123456789ab"
AWAY = DatabaseUnavailableError("the database is away; start it")


class Runs:
    """A run that another process carries out, in a database that goes away after some reads."""

    def __init__(self, reads: int, error: Exception) -> None:
        self.left, self.error = reads, error

    async def get(self, run: str) -> StoredRun:
        if not self.left:
            raise self.error
        self.left -= 1
        return StoredRun(
            id=run, graph="papers", session="default", generation="g1", current=True,
            silent=False, properties={"status": "running", "nodes_read": self.left},
        )  # fmt: skip


async def no_runs(*_: object) -> list[Json]:
    return []


@pytest.mark.parametrize("error", [AWAY, DatabaseTimeoutError("slow; wait")])
@pytest.mark.parametrize("reads", [1, 2, 3])
async def test_a_stream_of_another_process_ends_and_its_reader_hears_why_when_it_comes_back(
    monkeypatch: pytest.MonkeyPatch, reads: int, error: Exception
) -> None:
    monkeypatch.setattr(elsewhere, "LOOK_S", 0.0)
    engine: Any = SimpleNamespace(runs=Runs(reads, error), sessions=SimpleNamespace(runs=no_runs))
    async with in_process(serving_of(engine, OWNER), "owner") as web:
        stream = await web.get(f"/api/runs/{RUN}/events")
        assert stream.status_code == 200
        assert stream.text.count("event: snapshot") == reads - 1
        again = await web.get(f"/api/runs/{RUN}/events")
        assert again.status_code in (503, 504)
        assert again.json()["fix"]


@pytest.mark.parametrize("error", [AWAY, UnknownRunError("it is gone")])
async def test_who_comes_back_too_late_gets_no_fault(error: Exception) -> None:
    log = EventLog()
    log.add("accepted", {})

    async def snapshot() -> Json:
        raise error

    assert [one async for one in stream_events(log, 99, snapshot)] == []
    assert [one async for one in stream_events(None, None, snapshot)] == []


async def test_what_the_log_has_is_told_without_the_database() -> None:
    engine: Any = SimpleNamespace(runs=Runs(0, AWAY))
    serving = serving_of(engine, OWNER)
    run = LiveRun(RUN, OWNER, "papers", "default", "Why?")
    run.log.add("accepted", {"run": RUN})
    run.end("cancelled", "cancelled", {})
    serving.board.live[RUN] = run
    async with in_process(serving, "owner") as web:
        stream = await web.get(f"/api/runs/{RUN}/events")
        assert [line for line in stream.text.splitlines() if line.startswith("event")] == [
            "event: accepted", "event: cancelled",
        ]  # fmt: skip
        late = await web.get(f"/api/runs/{RUN}/events", headers={"Last-Event-ID": "9"})
    assert (late.status_code, late.text.count("event:")) == (200, 0)
