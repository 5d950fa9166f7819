"""Jobs by the clock: planned, run one at a time, and ended by a cancellation."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from apscheduler.triggers.date import DateTrigger
from apscheduler.triggers.interval import IntervalTrigger

from pgs_neo4j.config.schedule_table import ScheduleEntry
from pgs_neo4j.engine.jobs import FailedJob
from pgs_neo4j.engine.schedule import Clock, Planned, plan, run_forever, run_once
from pgs_neo4j.errors import BusyError, ConfigError, DatabaseUnavailableError
from pgs_neo4j.model.ingest import Ingested
from pgs_neo4j.pgs.runs.jobs import Job
from tests.fakes.engine import Engine

PAPERS = ScheduleEntry(graph="papers", cron="17 3 * * *", timezone="UTC")
EVERY = ScheduleEntry(all=True, cron="0 4 * * *", timezone="UTC", max_drift=0.1, keep=2)  # type: ignore[call-arg]


@pytest.fixture
def engine() -> Engine:
    """An engine with one graph, ``papers``, that has partitions."""
    return Engine()


@dataclass(slots=True)
class Watched:
    """Keeps what it hears; ``enough`` is set after so many ends."""

    wanted: int = 1
    ends: list[tuple[int, Any]] = field(default_factory=list)
    skips: list[tuple[int, str]] = field(default_factory=list)
    enough: asyncio.Event = field(default_factory=asyncio.Event)

    def ended(self, number: int, ended: Any) -> None:
        self.ends.append((number, ended))
        if len(self.ends) >= self.wanted:
            self.enough.set()

    def skipped(self, number: int, why: str) -> None:
        self.skips.append((number, why))


def opens(*engines: Any) -> Callable[[ScheduleEntry], Any]:
    """Connects to one engine after the other; an error stands for a database that is away."""
    left = list(engines)

    @asynccontextmanager
    async def open_pgs(entry: ScheduleEntry) -> AsyncIterator[Any]:
        engine = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(engine, Exception):
            raise engine
        yield engine

    return open_pgs


def at_once(entry: ScheduleEntry, number: int = 1) -> Planned:
    return Planned(number, entry, DateTrigger(datetime.now(UTC)))


async def served(planned: list[Planned], open_pgs: Any, watched: Watched) -> None:
    """Run the schedule until enough jobs have ended, then cancel it."""
    task = asyncio.create_task(run_forever(planned, open_pgs, watched))
    async with asyncio.timeout(60):
        await watched.enough.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_entries_are_planned_by_their_cron() -> None:
    first, second = plan([PAPERS, EVERY])
    now = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
    assert first.next_at(now) == datetime(2026, 7, 2, 3, 17, tzinfo=UTC)
    assert second.next_at(now) == datetime(2026, 7, 2, 4, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (ScheduleEntry(graph="a", cron="99 3 * * *"), "cron = '99 3 * * *' is invalid"),
        (ScheduleEntry(graph="a", cron="0 3 31 2 *"), "there is no such day"),
        (ScheduleEntry(graph="a", cron="0 3 * * *", timezone="No/Where"), "no time zone No/Where"),
    ],
)
def test_an_entry_that_cannot_be_kept_is_named(entry: ScheduleEntry, said: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(said)) as refused:
        plan([PAPERS, entry])
    assert str(refused.value).startswith("schedule entry 2 (graph a)")
    with pytest.raises(ConfigError, match="nothing is scheduled"):
        plan([])


async def test_once_runs_every_entry_and_goes_on_after_a_failure() -> None:
    busy = Engine(raising={"papers": BusyError("another job")})
    several = Engine(names=("a", "b"), current=None)
    watched = Watched()
    planned = plan([NOTES, PAPERS, PAPERS, EVERY])
    written, gone = BusyError("another process writes these"), DatabaseUnavailableError("gone")
    found = await run_once(planned, opens(Ingesting(written), busy, gone, several), watched)
    assert [number for number, _ in watched.ends] == [1, 2, 3, 4, 4]
    assert [ended for _, ended in watched.ends] == found
    assert [type(ended) for ended in found] == [FailedJob, FailedJob, FailedJob, Job, Job]
    assert (found[0], found[2]) == (FailedJob("notes", written), FailedJob("papers", gone))
    assert busy.calls == [("partition", "papers", False, None)]
    asked = [call for call in several.calls if call[0] == "partition"]
    assert asked == [("partition", "a", False, 2), ("partition", "b", False, 2)]


async def test_a_job_that_fails_does_not_end_the_schedule(engine: Engine) -> None:
    watched = Watched(wanted=3)
    planned = [Planned(1, PAPERS, IntervalTrigger(seconds=0.02))]
    gone = DatabaseUnavailableError("gone")
    await served(planned, opens(gone, gone, engine), watched)
    assert [type(ended) for _, ended in watched.ends[:3]] == [FailedJob, FailedJob, Job]


async def test_one_job_at_a_time(engine: Engine) -> None:
    running: list[int] = []

    async def work() -> None:
        running.append(1)
        assert len(running) == 1
        await asyncio.sleep(0.02)
        running.pop()

    engine.working = work
    watched = Watched(wanted=4)
    planned = [at_once(PAPERS, number) for number in (1, 2, 3, 4)]
    await served(planned, opens(engine), watched)
    assert sorted(number for number, _ in watched.ends) == [1, 2, 3, 4]
    assert all(isinstance(ended, Job) for _, ended in watched.ends)


async def test_an_entry_whose_job_is_not_done_is_skipped() -> None:
    watched = Watched()
    each = at_once(PAPERS)
    clock = Clock([each], watched)
    await clock.ring(each)
    await clock.ring(each)
    assert watched.skips == [(1, "its previous job is still running")]
    assert await clock.due() is each
    await clock.ring(each)
    assert len(watched.skips) == 2
    clock.done(each)
    await clock.ring(each)
    assert len(watched.skips) == 2
    assert await clock.due() is each


async def test_the_end_of_the_schedule_ends_a_job_under_way(
    engine: Engine, capfd: pytest.CaptureFixture[str]
) -> None:
    inside = asyncio.Event()

    async def work() -> None:
        inside.set()
        await asyncio.sleep(60)

    engine.working = work
    task = asyncio.create_task(run_forever([at_once(PAPERS)], opens(engine), Watched()))
    await inside.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    (stored,) = engine.db.jobs.values()
    assert stored["outcome"] == "interrupted"
    await asyncio.sleep(0)
    assert capfd.readouterr() == ("", "")


async def test_a_time_long_missed_is_told_and_apscheduler_says_nothing(
    engine: Engine, capfd: pytest.CaptureFixture[str]
) -> None:
    late = Planned(2, PAPERS, DateTrigger(datetime.now(UTC) - timedelta(days=2)))
    watched = Watched()
    await served([at_once(PAPERS), late], opens(engine), watched)
    assert [number for number, _ in watched.ends] == [1]
    assert watched.skips == [(2, "this process was suspended when it was due")]
    assert not logging.getLogger("apscheduler").propagate
    assert capfd.readouterr() == ("", "")


NOTES = ScheduleEntry(
    kind="ingest", graph="notes", paths=("a/", "b.md"), cron="7 * * * *", timezone="UTC",
    sync=True, schema="types.toml", max_cost=2.0, max_calls=9,
)  # type: ignore[call-arg]  # fmt: skip


@dataclass(slots=True)
class Ingesting:
    """An engine that ingests: it remembers what it was asked for, and ends as it is told."""

    result: Ingested | Exception
    asked: list[tuple[Any, ...]] = field(default_factory=list)

    async def ingest(self, paths: Any, graph: str, **wanted: Any) -> Ingested:
        self.asked.append((paths, graph, wanted))
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


async def test_files_are_ingested_with_the_options_and_limits_of_their_entry() -> None:
    done = Ingested(graph="notes", label="Notes", outcomes=())
    engine, watched = Ingesting(done), Watched(wanted=2)
    assert await run_once(plan([NOTES]), opens(engine), watched) == [done]
    await served([at_once(NOTES)], opens(engine), watched)
    wanted = {
        "schema": "types.toml", "sync": True, "forget": False, "refresh": False, "embed": False,
        "max_cost": 2.0, "max_calls": 9,
    }  # fmt: skip
    assert engine.asked == [(("a/", "b.md"), "notes", wanted)] * 2
    assert watched.ends == [(1, done)] * 2
