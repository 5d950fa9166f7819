"""Streams whose runs are elsewhere, whose database is away, or whose readers have gone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from pgs_neo4j.engine import StoredRun
from pgs_neo4j.errors import DatabaseTimeoutError, DatabaseUnavailableError, UnknownRunError
from pgs_neo4j.text.json_data import Json
from pgs_neo4j.web.access.callers import OWNER
from pgs_neo4j.web.jobs import LiveJob
from pgs_neo4j.web.runs import events
from pgs_neo4j.web.runs.board import LiveRun
from pgs_neo4j.web.runs.events import FINAL, CutStreams, EventLog, stream_events, stream_snapshots
from pgs_neo4j.web.served_work import end_work
from tests.fakes.records import RUN, giving, stored_run
from tests.in_process import in_process, serving_of

AWAY = DatabaseUnavailableError("the database is away; start it")


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look again at once."""
    monkeypatch.setattr(events, "LOOK_S", 0.0)


async def away() -> str:
    raise AWAY


class Runs:
    """A run that another process carries out, in a database that goes away after some reads."""

    def __init__(self, reads: int, error: Exception) -> None:
        self.left, self.error = reads, error

    async def get(self, run: str) -> StoredRun:
        if not self.left:
            raise self.error
        self.left -= 1
        return stored_run(status="running", nodes_read=self.left)


@pytest.mark.parametrize(
    ("reads", "error"), [(1, AWAY), (2, DatabaseTimeoutError("slow; wait")), (3, AWAY)]
)
async def test_a_stream_of_another_process_ends_and_its_reader_hears_why_when_it_comes_back(
    reads: int, error: Exception
) -> None:
    engine: Any = SimpleNamespace(
        runs=Runs(reads, error), sessions=SimpleNamespace(runs=giving([]))
    )
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


async def test_a_run_that_read_nothing_is_told_without_the_database() -> None:
    engine: Any = SimpleNamespace(runs=Runs(0, AWAY))
    serving = serving_of(engine, OWNER)
    run = LiveRun(RUN, "papers", "default", OWNER, "Why?")
    run.log.add("accepted", {"run": RUN})
    end_work(run, "cancelled", {})
    serving.board.live.by_id[RUN] = run
    async with in_process(serving, "owner") as web:
        stream = await web.get(f"/api/runs/{RUN}/events")
        assert [line for line in stream.text.splitlines() if line.startswith("event")] == [
            "event: accepted", "event: cancelled",
        ]  # fmt: skip
        late = await web.get(f"/api/runs/{RUN}/events", headers={"Last-Event-ID": "9"})
        run.began_at = 0.0
        serving.board.read_token = away
        read = await web.get(f"/api/runs/{RUN}/events")
        assert (read.status_code, read.text) == (200, ""), "its texts may be deleted by now"
    assert (late.status_code, late.text.count("event:")) == (200, 0)


async def test_who_has_heard_everything_is_told_not_to_come_back() -> None:
    """Browsers come back after every end of a stream, until they are answered with 204."""
    engine: Any = SimpleNamespace(runs=Runs(0, AWAY))
    serving = serving_of(engine, OWNER)
    run = LiveRun(RUN, "papers", "default", OWNER, "Why?")
    job = LiveJob("papers", OWNER, "demo")
    for log in (run.log, job.log):
        log.add("accepted", {})
    serving.board.live.by_id[RUN], serving.jobs.live.by_id[job.id] = run, job
    end_work(run, "cancelled", {})
    end_work(job, "cancelled", {})
    async with in_process(serving, "owner") as web:
        for path, log in (
            (f"/api/runs/{RUN}/events", run.log),
            (f"/api/jobs/live/{job.id}/events", job.log),
        ):
            earlier = await web.get(path, headers={"Last-Event-ID": str(log.last - 1)})
            assert (earlier.status_code, earlier.text.count("event:")) == (200, 1)
            ended = await web.get(path, headers={"Last-Event-ID": str(log.last)})
            assert (ended.status_code, ended.content) == (204, b"")


async def test_who_has_heard_of_a_recorded_end_is_told_not_to_come_back() -> None:
    engine: Any = SimpleNamespace(runs=SimpleNamespace(get=giving(stored_run(status="complete"))))
    async with in_process(serving_of(engine, OWNER), "owner") as web:
        ended = await web.get(f"/api/runs/{RUN}/events", headers={"Last-Event-ID": str(FINAL)})
        assert (ended.status_code, ended.content) == (204, b"")
    told = [one async for one in stream_snapshots(giving({"state": "complete"}), asyncio.Event())]
    assert [one.id for one in told] == [str(FINAL)]


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
    for state in ("complete", "silent", "cancelled", "failed"):
        assert await states(iter([{"state": state}]), asyncio.Event()) == [(state, None)]


async def test_the_end_of_the_server_ends_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "LOOK_S", 600.0)
    stopped = asyncio.Event()

    async def snapshot() -> dict[str, object]:
        return {"state": "running"}

    stream = stream_snapshots(snapshot, stopped)
    assert (await anext(stream)).event == "snapshot"
    stopped.set()
    async with asyncio.timeout(60):
        assert [one async for one in stream] == []


async def cut(error: Exception) -> None:
    """Serve a stream that ends with an error."""

    async def fail(*_: Any) -> Any:
        raise error

    await CutStreams(fail)({"type": "http"}, fail, fail)


async def test_a_reader_that_has_gone_is_no_fault_and_every_other_error_stays() -> None:
    gone = [anyio.BrokenResourceError(), anyio.BrokenResourceError()]
    await cut(gone[0])
    await cut(ExceptionGroup("streams", gone))
    with pytest.raises(ExceptionGroup) as raised:
        await cut(ExceptionGroup("streams", [*gone, KeyError("fault")]))
    assert [type(one) for one in raised.value.exceptions] == [KeyError]
