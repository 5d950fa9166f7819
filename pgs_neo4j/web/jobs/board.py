"""The jobs of this process: in progress, or just ended."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from secrets import token_hex
from time import monotonic
from typing import Literal

from pgs_neo4j.engine import Job
from pgs_neo4j.errors import BusyError, PGSError
from pgs_neo4j.events import Event, OnEvent
from pgs_neo4j.text.shown import one_line
from pgs_neo4j.web.access.callers import Caller, UnknownJobError
from pgs_neo4j.web.failures import FAULT, failure_of
from pgs_neo4j.web.jobs.served_jobs import JobKind, ServedJob, ServedJobEnd
from pgs_neo4j.web.runs.board import KEEP_S, STOP_S, STOPPING
from pgs_neo4j.web.runs.log import EventLog
from pgs_neo4j.web.runs.told import told_data

logger = logging.getLogger(__name__)

JobState = Literal["running", "ended", "failed", "cancelled"]
JobWork = Callable[[OnEvent], Awaitable[ServedJobEnd]]


@dataclass(slots=True, eq=False)
class LiveJob:
    """A job of this process. ``most_cost`` is what it may cost.

    ``record`` is the id of its record, empty until it has one. ``error`` ended it.
    """

    caller: Caller
    graph: str
    kind: JobKind
    most_cost: float = 0.0
    id: str = field(default_factory=lambda: f"b{token_hex(6)}")
    state: JobState = "running"
    record: str = ""
    error: PGSError | None = None
    log: EventLog = field(default_factory=EventLog, repr=False)
    recorded: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    ended_at: float | None = None
    task: asyncio.Task[None] | None = field(default=None, repr=False)

    @property
    def active(self) -> bool:
        """Whether it is in progress."""
        return self.ended_at is None

    def shown(self) -> ServedJob:
        """Return what tells it from others."""
        return ServedJob(job=self.id, graph=self.graph, kind=self.kind)

    def begin(self, record: Job) -> None:
        """Take the record of the job."""
        self.record = record.id
        self.recorded.set()

    async def wait_for_record(self) -> None:
        """Wait until the job has a record, or has ended.

        Raises what kept it from being recorded, and BusyError if the server stops.
        """
        await self.recorded.wait()
        if not self.record and self.error is not None:
            raise self.error
        if not self.record and self.state == "cancelled":
            raise BusyError(STOPPING)

    def hear(self, event: Event) -> None:
        """Take an event of the engine."""
        self.log.add(event.kind, told_data(event))

    def end(self, state: JobState, data: Mapping[str, object]) -> None:
        """Close the job with its last event."""
        self.state, self.ended_at = state, monotonic()
        self.log.add(state, {**data, **self.shown()})
        self.log.end()
        self.recorded.set()


@dataclass(slots=True)
class JobBoard:
    """Carries out jobs, one on a graph at a time."""

    live: dict[str, LiveJob] = field(default_factory=dict, repr=False)
    stopping: bool = False

    def start(
        self, job: LiveJob, work: JobWork, on_end: Callable[[], None] = lambda: None
    ) -> LiveJob:
        """Begin a job; ``on_end`` is called when it has ended, also if it never began.

        Raises BusyError while another one works on the graph.
        """
        self._tidy()
        busy = any(one.active and one.graph == job.graph for one in self.live.values())
        if busy or self.stopping:
            on_end()
            working = f"a job on graph {job.graph} is in progress; see 'GET /api/jobs'"
            raise BusyError(STOPPING if self.stopping else working)
        self.live[job.id] = job
        job.log.add("accepted", job.shown())
        job.task = asyncio.create_task(self._carry_out(job, work))
        job.task.add_done_callback(lambda _: self._close(job, on_end))
        return job

    def find(self, id_: str, caller: Caller) -> LiveJob:
        """Return a job of this process.

        Raises UnknownJobError, also if the caller must not see it.
        """
        job = self.live.get(id_)
        if job is None or not _shows(job, caller):
            raise UnknownJobError(
                f"there is no job {id_} in progress; 'GET /api/jobs' lists records"
            )
        return job

    def active(self, caller: Caller, graph: str | None = None) -> list[LiveJob]:
        """Return the jobs in progress that the caller may see, of one graph if it is named."""
        return [
            job
            for job in self.live.values()
            if job.active and _shows(job, caller) and graph in (None, job.graph)
        ]

    def held_costs(self, caller: Caller) -> dict[object, float]:
        """Return the most that each of the caller's jobs in progress may cost."""
        own = (job for job in self.live.values() if job.active and job.caller.is_same(caller))
        return {job: job.most_cost for job in own}

    async def cancel(self, job: LiveJob) -> None:
        """Cancel a job, and return when it has ended."""
        if job.task is not None and job.active:
            job.task.cancel()
            await asyncio.wait([job.task])

    async def stop(self) -> None:
        """Cancel all jobs, which leave records, and end all streams. None begins any more."""
        self.stopping = True
        tasks = []
        for job in self.live.values():
            if job.active and job.task is not None:
                job.log.add("stopping", job.shown())
                job.task.cancel()
                tasks.append(job.task)
        if tasks:
            await asyncio.wait(tasks, timeout=STOP_S)
        for job in self.live.values():
            job.log.end()

    async def _carry_out(self, job: LiveJob, work: JobWork) -> None:
        try:
            ended = await work(job.hear)
        except PGSError as error:
            logger.warning("a job on graph %s failed: %s", job.graph, one_line(str(error)))
            job.error = error
            job.end("failed", failure_of(error).model_dump())
        except Exception:
            logger.exception("a job on graph %s failed unexpectedly", job.graph)
            job.end("failed", FAULT.model_dump())
        else:
            job.end("ended", ended)

    def _close(self, job: LiveJob, on_end: Callable[[], None]) -> None:
        """Call ``on_end``, after the last event of a job that was canceled."""
        if job.active:
            job.end("cancelled", {})
        on_end()

    def _tidy(self) -> None:
        """Forget jobs that ended long ago."""
        old = monotonic() - KEEP_S
        for job in [*self.live.values()]:
            if job.ended_at is not None and job.ended_at < old:
                del self.live[job.id]


def _shows(job: LiveJob, caller: Caller) -> bool:
    """Whether a caller may see a job: its own, and the owner of the server every one."""
    return caller.sees(job.graph) and (job.caller == caller or not caller.tenant)
