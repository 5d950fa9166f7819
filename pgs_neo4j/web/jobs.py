"""The jobs of this process: their work, their events, and a board that runs one job per graph."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from secrets import token_hex
from typing import Literal, TypedDict

from pgs_neo4j.config import Knobs
from pgs_neo4j.engine import DEMO_GRAPH, PGS, FailedJob, Job, JobOrder, OnBegin
from pgs_neo4j.engine.live_work import STOPPING, LiveBoard
from pgs_neo4j.errors import BusyError, PGSError
from pgs_neo4j.events import OnEvent
from pgs_neo4j.model.documents import DocumentSource
from pgs_neo4j.model.ingest import DocumentOutcome, Ingested
from pgs_neo4j.model.scope import Scope
from pgs_neo4j.text.shown import counted, unproven_chunks, unproven_prompts
from pgs_neo4j.web.access.callers import Caller, UnknownJobError
from pgs_neo4j.web.runs.events import EventLog
from pgs_neo4j.web.served_work import End, JobState, carry_out, end_work, hear_event
from pgs_neo4j.web.uploads import Upload

JobKind = Literal["repartition", "ingest", "demo"]
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
    """A job of this process.

    ``record`` is the id of the job's record, empty until there is a record. ``error`` is the error
    that ended the job.
    """

    graph: str
    caller: Caller
    kind: JobKind
    id: str = field(default_factory=lambda: f"b{token_hex(6)}")
    state: JobState = "running"
    most_cost: float = 0.0
    log: EventLog = field(default_factory=EventLog, repr=False)
    record: str = ""
    error: PGSError | None = None
    task: asyncio.Task[None] | None = field(default=None, repr=False)
    begun: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    ended_at: float | None = None

    @property
    def scope(self) -> Scope:
        """The scope of its caller."""
        return self.caller.scope

    @property
    def session(self) -> str:
        """The prefix of its caller's sessions. Viewers who see these sessions see the job."""
        return self.caller.own_prefix

    @property
    def title(self) -> str:
        """The name of the job in errors and logs."""
        return f"a job on graph {self.graph}"

    def shown(self) -> ServedJob:
        """Return the fields that identify the job."""
        return ServedJob(job=self.id, graph=self.graph, kind=self.kind)

    def close(self) -> None:
        """Record that the job was canceled; ``carry_out`` records every other end."""
        end_work(self, "cancelled", {})

    def begin(self, record: Job) -> None:
        """Note the id of the job's record."""
        self.record = record.id
        self.begun.set()

    async def wait_for_record(self) -> None:
        """Wait until the job has a record, or has ended.

        Raises the error that ended the job before it was recorded, and BusyError if the server
        stops.
        """
        await self.begun.wait()
        if not self.record and self.error is not None:
            raise self.error
        if not self.record and self.state == "cancelled":
            raise BusyError(STOPPING)


@dataclass(slots=True)
class JobBoard:
    """Carries out jobs, one at a time on each graph."""

    live: LiveBoard[LiveJob] = field(default_factory=LiveBoard, repr=False)

    def start(
        self, job: LiveJob, work: JobWork, on_end: Callable[[], None] = lambda: None
    ) -> LiveJob:
        """Begin a job; ``on_end`` is called when it has ended, even if it never began.

        Raises BusyError while another job works on the graph.
        """
        try:
            # Nothing is awaited between this check and ``begin``, so two starts cannot both pass
            # it.
            if self.live.active(graph=job.graph) and not self.live.stopping:
                raise BusyError(f"a job on graph {job.graph} is in progress; see 'GET /api/jobs'")
            task = self.live.begin(job, partial(carry_out, job, partial(_do_job, job, work)))
        except BusyError:
            on_end()
            raise
        job.log.add("accepted", job.shown())
        task.add_done_callback(lambda _: on_end())
        return job

    def find(self, id_: str, caller: Caller) -> LiveJob:
        """Return a job of this process.

        Raises UnknownJobError if there is no such job, or if the caller must not see it.
        """
        job = self.live.find(id_, caller)
        if job is None:
            raise UnknownJobError(
                f"there is no job {id_} in progress; 'GET /api/jobs' lists records"
            )
        return job


async def _do_job(job: LiveJob, work: JobWork) -> End[JobState]:
    try:
        return "ended", await work(partial(hear_event, job))
    except PGSError as error:
        job.error = error
        raise


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
    """Return a cost limit as a knob; for None, return no knob, so the configured limit applies."""
    return {} if most_cost is None else {"max_cost": most_cost}


def upload_sources(pgs: PGS, uploads: Sequence[Upload]) -> list[DocumentSource]:
    """Return the sources of uploaded files. A custom loader gets their data."""
    if pgs.ingest.endings:
        return [upload.source() for upload in uploads]
    return [DocumentSource(id=upload.name, data=upload.read()) for upload in uploads]


def ingested_data(done: Ingested) -> ServedJobEnd:
    """Return how an ingestion ended, without documents that were not among its files."""
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
