"""Runs jobs at set times in one process: ``[[schedule]]`` of ``pgs.toml``.

Jobs run one at a time, so that only one job at a time needs memory. An entry that is due again
before its job is done is skipped. Each job opens its own connection, so an unavailable database
affects only the jobs that are due at that time.

Times are expressions of crontab(5), which become triggers of APScheduler. APScheduler differs in
two places. Its weekdays begin with Monday at 0. And if both a day of the month and a weekday are
set, it requires both to match; crontab requires either.
"""

from __future__ import annotations

import asyncio
import logging
import re
import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Protocol, cast
from zoneinfo import ZoneInfo

from pgs_neo4j.config.schedule_table import ScheduleEntry, entry_name
from pgs_neo4j.engine import EndedJob, FailedJob, JobOrder
from pgs_neo4j.errors import ConfigError, PGSError
from pgs_neo4j.model.ingest import Ingested

if TYPE_CHECKING:
    from apscheduler.events import JobExecutionEvent
    from apscheduler.schedulers.asyncio import AsyncIOScheduler
    from apscheduler.triggers.base import BaseTrigger

    from pgs_neo4j.config import Knobs
    from pgs_neo4j.engine import PGS

LATEST_S = 3600  # seconds that a job may begin late, for example after the machine slept
Open = Callable[[ScheduleEntry], "AbstractAsyncContextManager[PGS]"]
"""Opens the engine for the job of an entry, with models if the job is an ingestion."""
Ended = EndedJob | Ingested


class Watcher(Protocol):
    """Receives reports of what the schedule does."""

    def ended(self, number: int, ended: Ended) -> None:
        """Report that a job of the numbered entry ended."""

    def skipped(self, number: int, why: str) -> None:
        """Report that an entry was due, but no job began."""


@dataclass(frozen=True, slots=True)
class Planned:
    """An entry with its trigger, and with its number in the file, counted from 1."""

    number: int
    entry: ScheduleEntry
    trigger: BaseTrigger

    def next_at(self, now: datetime | None = None) -> datetime:
        """Return when the next job begins, in the entry's time zone.

        Raises ConfigError if it never does.
        """
        at = self.trigger.get_next_fire_time(None, now or datetime.now(UTC))
        if not isinstance(at, datetime):
            name = entry_name(self.number, self.entry.target)
            raise ConfigError(f"{name}: cron never matches again")
        return at


def plan(entries: Sequence[ScheduleEntry]) -> tuple[Planned, ...]:
    """Return the entries with their triggers.

    Raises ConfigError if there are no entries, or if an entry is invalid; the error names the
    entry.
    """
    if not entries:
        raise ConfigError(
            "nothing is scheduled: pgs.toml has no [[schedule]] table with graph and cron"
        )
    return tuple(_plan_entry(number, entry) for number, entry in enumerate(entries, 1))


async def run_once(planned: Sequence[Planned], open_pgs: Open, watcher: Watcher) -> list[Ended]:
    """Run all entries now, in their order, and return how each job ended."""
    jobs: list[Ended] = []
    for item in planned:
        jobs += await _run_entry(item, open_pgs, watcher)
    return jobs


async def run_forever(planned: Sequence[Planned], open_pgs: Open, watcher: Watcher) -> None:
    """Run entries at their times until canceled."""
    clock = Clock(planned, watcher)
    clock.start()
    try:
        while True:
            item = await clock.due()
            await _run_entry(item, open_pgs, watcher)
            clock.done(item)
    finally:
        clock.stop()


class Clock:
    """Queues due entries, each at most once until it is done."""

    def __init__(self, planned: Sequence[Planned], watcher: Watcher) -> None:
        self._planned = planned
        self._watcher = watcher
        self._due: asyncio.Queue[Planned] = asyncio.Queue()
        self._busy: set[int] = set()
        self._scheduler: AsyncIOScheduler | None = None

    def start(self) -> None:
        """Start to watch the times of the entries."""
        from apscheduler.events import EVENT_JOB_MISSED
        from apscheduler.schedulers.asyncio import AsyncIOScheduler

        _silence_scheduler()
        scheduler = AsyncIOScheduler(
            timezone=UTC,
            job_defaults={
                "max_instances": 1,
                "coalesce": True,
                "misfire_grace_time": LATEST_S,
            },
        )
        for item in self._planned:
            scheduler.add_job(self.ring, item.trigger, args=(item,), id=str(item.number))
        scheduler.add_listener(self._report_missed, EVENT_JOB_MISSED)
        scheduler.start()
        self._scheduler = scheduler

    async def ring(self, item: Planned) -> None:
        """Queue an entry that is due."""
        if item.number in self._busy:
            self._watcher.skipped(item.number, "its previous job is still running")
            return
        self._busy.add(item.number)
        self._due.put_nowait(item)

    def _report_missed(self, event: JobExecutionEvent) -> None:
        self._watcher.skipped(int(event.job_id), "this process was suspended when it was due")

    async def due(self) -> Planned:
        """Return the next entry that is due."""
        return await self._due.get()

    def done(self, item: Planned) -> None:
        """Mark an entry's job as ended, so that the entry can be queued again."""
        self._busy.discard(item.number)

    def stop(self) -> None:
        """Stop watching the times."""
        if self._scheduler is not None:
            self._scheduler.shutdown(wait=False)


async def _run_entry(item: Planned, open_pgs: Open, watcher: Watcher) -> list[Ended]:
    entry = item.entry
    order = JobOrder(if_changed=entry.if_changed, max_drift=entry.max_drift, keep=entry.keep)

    def report(ended: Ended) -> None:
        watcher.ended(item.number, ended)

    jobs: list[Ended] = []
    try:
        async with open_pgs(entry) as pgs:
            if entry.all_graphs:
                jobs = [*await pgs.jobs.attempt_all(order, on_end=report)]
            elif entry.kind == "ingest":
                jobs = [await _ingest(pgs, entry)]
                report(jobs[0])
            else:
                jobs = [await pgs.jobs.attempt(entry.graph, order)]
                report(jobs[0])
    except PGSError as error:
        jobs.append(FailedJob(entry.graph, error))
        report(jobs[-1])
    return jobs


async def _ingest(pgs: PGS, entry: ScheduleEntry) -> Ingested:
    """Ingest the files of an entry, within its limits."""
    return await pgs.ingest(
        entry.paths,
        entry.graph or "",
        schema=entry.schema_file,
        sync=entry.sync,
        forget=entry.forget,
        refresh=entry.refresh,
        embed=entry.embed,
        **cast("Knobs", entry.limits),
    )


def _plan_entry(number: int, entry: ScheduleEntry) -> Planned:
    try:
        return Planned(number, entry, trigger(entry.cron, entry.timezone))
    except ValueError as error:
        name = entry_name(number, entry.target)
        raise ConfigError(f"{name}: cron = {entry.cron!r} is invalid: {error}") from error


def _silence_scheduler() -> None:
    # The watcher reports what happens; tracebacks of APScheduler would only repeat it.
    logger = logging.getLogger("apscheduler")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    logger.propagate = False


WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_PART = re.compile(r"(?:(\*)|(\w+)(?:-(\w+))?)(?:/(\d+))?")


def trigger(cron: str, timezone: str | None) -> BaseTrigger:
    """Return a trigger for five crontab fields, in a time zone; None means the local one.

    Raises ValueError, which describes the fault.
    """
    from apscheduler.triggers.combining import OrTrigger
    from apscheduler.triggers.cron import CronTrigger

    minute, hour, day, month, weekday = cron.lower().split()
    either = not (day.startswith("*") or weekday.startswith("*"))
    weekday = _name_weekdays(weekday)
    zone = None if timezone is None else _find_zone(timezone)

    def fire_on(day: str, weekday: str) -> BaseTrigger:
        return CronTrigger(
            minute=minute, hour=hour, day=day, month=month, day_of_week=weekday, timezone=zone
        )

    with warnings.catch_warnings():
        # A machine that names no time zone is in UTC, which causes a warning.
        warnings.simplefilter("ignore")
        result = (
            OrTrigger([fire_on(day, "*"), fire_on("*", weekday)])
            if either
            else fire_on(day, weekday)
        )
    if result.get_next_fire_time(None, datetime.now(UTC)) is None:
        raise ValueError("there is no such day")
    return result


def _find_zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (LookupError, OSError, ValueError) as error:
        raise ValueError(f"there is no time zone {name}") from error


def _name_weekdays(text: str) -> str:
    """Return the names of crontab weekdays. In crontab, both 0 and 7 are Sunday."""
    if text == "*":
        return text
    days: set[int] = set()
    for part in text.split(","):
        days |= _expand_weekdays(part)
    return ",".join(WEEKDAYS[day] for day in sorted(days))


def _expand_weekdays(part: str) -> set[int]:
    match = _PART.fullmatch(part)
    if match is None:
        raise ValueError(f"{part!r} is not a day of the week")
    star, first, last, step = match.groups()
    if star:
        begin, end = 0, 6
    else:
        begin = _parse_weekday(first)
        # A step without an end continues to the end of the week.
        end = _parse_weekday(last) if last else (6 if step else begin)
        # A range may end on Sunday, which then is day 7.
        if last and end == 0 < begin:
            end = 7
    width = int(step) if step else 1
    if width < 1:
        raise ValueError(f"the step of {part!r} must be higher than 0")
    if begin > end:
        raise ValueError(
            f"{part!r} ends before it begins; count the days from 0 (Sunday) to 6, as in 5-6,0-1"
        )
    return {day % 7 for day in range(begin, end + 1, width)}


def _parse_weekday(word: str) -> int:
    if word in WEEKDAYS:
        return WEEKDAYS.index(word)
    if word.isdecimal() and int(word) <= 7:
        return int(word)
    raise ValueError(f"{word!r} is not a day of the week: use 0 to 7 or sun to sat")
