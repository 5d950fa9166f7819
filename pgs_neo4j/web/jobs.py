"""The jobs of this process: what they do, their events, and one at a time on each graph."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from secrets import token_hex
from time import monotonic
from typing import Literal, TypedDict

from pgs_neo4j.config import Knobs
from pgs_neo4j.engine import DEMO_GRAPH, PGS, FailedJob, Job, JobOrder, OnBegin
from pgs_neo4j.errors import BusyError, PGSError
from pgs_neo4j.events import Event, OnEvent
from pgs_neo4j.model.documents import DocumentSource
from pgs_neo4j.model.ingest import DocumentOutcome, Ingested
from pgs_neo4j.text.shown import counted, one_line, unproven_chunks, unproven_prompts
from pgs_neo4j.web.access.callers import Caller, UnknownJobError
from pgs_neo4j.web.failures import FAULT, failure_of
from pgs_neo4j.web.runs.board import KEEP_S, STOP_S, STOPPING
from pgs_neo4j.web.runs.events import EventLog
from pgs_neo4j.web.runs.served_data import told_data
from pgs_neo4j.web.uploads import Upload

logger = logging.getLogger(__name__)
JobKind = Literal["repartition", "ingest", "demo"]
JobState = Literal["running", "ended", "failed", "cancelled"]
MOST_LISTED = 200
UNREAD = ("missing", "elsewhere")
"""States of documents that are not among the files."""
FIRST = ("failed", "waiting")
"""States of the documents that are listed before others."""


class ServedJob(TypedDict):
    """The job began. Its ``kind`` is ``repartition``, ``ingest``, or ``demo``."""

    job: str
    graph: str
    kind: JobKind


class ServedDocument(TypedDict):
    """What became of a document."""

    id: str
    state: str
    chunks: int
    reason: str
    note: str


class ServedJobEnd(TypedDict):
    """The job is done, or a limit stopped it. Last event.

    ``record`` is the id of its record in ``GET /api/jobs``. ``states`` counts documents by their
    outcome, and ``documents`` names the first of them, failed ones first.
    """

    record: str
    outcome: str
    states: dict[str, int]
    documents: list[ServedDocument]
    notes: list[str]
    cost: float | None


class ServedJobFailure(TypedDict):
    """The job failed. Last event."""

    error: str
    code: str
    fix: str


class ServedJobCancelled(TypedDict):
    """The job was cancelled, or the server stops. Last event."""

    job: str


class ServedJobStop(TypedDict):
    """The server stops, and cancels the job."""

    job: str


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
        """Return the fields that identify the job."""
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
        """Begin a job; ``on_end`` is called when it has ended, even if it never began.

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


async def repartition(
    pgs: PGS, graph: str, order: JobOrder, on_begin: OnBegin, on_event: OnEvent
) -> ServedJobEnd:
    """Repartition a graph; ``on_begin`` gets the record. Raises PGSError."""
    ended = await pgs.jobs.attempt(graph, order, on_event, on_begin)
    if isinstance(ended, FailedJob):
        raise ended.error
    return _end(ended.id, ended.outcome)


async def load_demo(pgs: PGS, on_begin: OnBegin, on_event: OnEvent) -> ServedJobEnd:
    """Load the demo graph, and partition it. Raises PGSError."""
    await pgs.load.demo(on_event=on_event)
    return await repartition(pgs, DEMO_GRAPH, JobOrder(if_changed=True), on_begin, on_event)


async def ingest(
    pgs: PGS,
    graph: str,
    uploads: Sequence[Upload],
    *,
    embed: bool,
    most_cost: float | None,
    on_event: OnEvent,
) -> ServedJobEnd:
    """Ingest uploaded files into a graph; its other documents stay. Raises PGSError."""
    sources = upload_sources(pgs, uploads)
    done = await pgs.ingest(sources, graph, embed=embed, on_event=on_event, **within(most_cost))
    return ingested_data(done)


def within(most_cost: float | None) -> Knobs:
    """Return a limit as a knob; none leaves that of the settings."""
    return {} if most_cost is None else {"max_cost": most_cost}


def upload_sources(pgs: PGS, uploads: Sequence[Upload]) -> list[DocumentSource]:
    """Return the sources of uploaded files. A loader of your own is given their data."""
    if pgs.ingest.endings:
        return [upload.source() for upload in uploads]
    return [DocumentSource(id=upload.name, data=upload.read()) for upload in uploads]


def ingested_data(done: Ingested) -> ServedJobEnd:
    """Return how an ingestion ended. Documents that were not among its files are left out."""
    own = [one for one in done.outcomes if one.state not in UNREAD]
    part = f"{counted(done.partly_read, 'document')} read only in part" if done.partly_read else ""
    unproven = unproven_prompts(done.uncounted)
    whys = (done.undescribed_why, done.unjudged_why, done.unembedded_why)
    texts = counted(done.embedded_unproven, "text")
    vectors = f"nothing proves that the embedding model read all of {texts}"
    unread = vectors if done.embedded_unproven else ""
    reasons = (done.stopped, *whys, part, unproven, unread, *done.embedding_notes)
    end = _end(done.job, "ingested" if done.complete else "failed" if done.failed else "partial")
    end["states"] = dict(Counter(one.state for one in own))
    end["documents"] = [
        _document(one)
        for one in sorted(own, key=lambda one: (one.state not in FIRST, not one.unread))[
            :MOST_LISTED
        ]
    ]
    end["notes"] = list(dict.fromkeys(filter(None, reasons)))
    end["cost"] = done.cost
    return end


def _end(record: str, outcome: str) -> ServedJobEnd:
    return {
        "record": record,
        "outcome": outcome,
        "states": {},
        "documents": [],
        "notes": [],
        "cost": None,
    }


def _document(outcome: DocumentOutcome) -> ServedDocument:
    return {
        "id": outcome.id,
        "state": outcome.state,
        "chunks": outcome.chunks,
        "reason": outcome.reason,
        "note": "; ".join(
            filter(None, (outcome.note, *outcome.unread, unproven_chunks(outcome.unproven)))
        ),
    }
