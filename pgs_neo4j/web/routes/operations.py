"""Routes for jobs, costs, checks, and metrics."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Response
from fastapi.exceptions import HTTPException
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BaseModel, Field

from pgs_neo4j import __version__
from pgs_neo4j.engine import Check, DayCost, JobOrder
from pgs_neo4j.engine.live_work import is_active
from pgs_neo4j.engine.metrics import (
    CONTENT_TYPE,
    INFO,
    RUNNING,
    STREAMS,
    WAITING,
    MetricFigures,
    exposition,
)
from pgs_neo4j.errors import BusyError, ScopeError, UsageError
from pgs_neo4j.text.json_data import Json, plain_data
from pgs_neo4j.web.access.callers import METRICS_PATH, Caller, UnknownJobError
from pgs_neo4j.web.jobs import JobKind, LiveJob, repartition
from pgs_neo4j.web.routes.router import BODY, JOB_ID, WHOLE, GraphFilter, api_router, failing
from pgs_neo4j.web.routes.runs import NO_MORE_EVENTS, LastId
from pgs_neo4j.web.runs.events import has_received_all, stream_events
from pgs_neo4j.web.served_work import JobState
from pgs_neo4j.web.shared import (
    CallerNow,
    OperatorNow,
    ScraperNow,
    Serving,
    ServingNow,
    UnlimitedNow,
    visible_graph,
)

router = api_router("operations")
metrics_router = APIRouter(tags=["operations"])
JobId = Annotated[str, Path(max_length=100, description="id of the record")]
LiveId = Annotated[str, Path(pattern=JOB_ID, description="id of a job in progress, or just ended")]


class JobRecord(BaseModel):
    """The record of a job in short."""

    id: str
    graph: str
    kind: str
    outcome: str
    started_at: str
    finished_at: str | None
    generation: str | None
    error: str | None
    silent: bool


class NewJob(BaseModel):
    """A repartition; see ``pgs repartition`` for what its options mean."""

    model_config = BODY

    graph: Annotated[str | None, Field(max_length=64)] = None
    if_changed: bool = False
    max_drift: Annotated[float | None, Field(ge=0.0, le=1.0)] = None
    keep: Annotated[int, Field(ge=1, le=10_000), WHOLE] | None = None


class StartedJob(BaseModel):
    """A job that was started: its events, and the id of its record, null until it has one."""

    job: str
    graph: str
    kind: JobKind
    state: JobState
    events: str
    record: str | None
    jobs: str


@router.get("/jobs")
async def list_jobs(
    serving: ServingNow, caller: CallerNow, graph: GraphFilter = None
) -> list[JobRecord]:
    """Return the newest jobs, the latest first."""
    if graph is not None:
        await visible_graph(serving, caller, graph)
    names = JobRecord.model_fields
    return [
        JobRecord(**{name: getattr(job, name) for name in names})
        for job in await serving.pgs.jobs(graph, limit=100, graphs=caller.graphs)
        if caller.sees(job.graph)
    ]


@router.get("/jobs/live")
async def list_live_jobs(
    serving: ServingNow, caller: CallerNow, graph: GraphFilter = None
) -> list[StartedJob]:
    """Return the caller's jobs in progress on this server; the owner sees all jobs."""
    if graph is not None:
        await visible_graph(serving, caller, graph)
    return [describe_job(job) for job in serving.jobs.live.active(caller, graph)]


@router.post("/jobs", status_code=202, responses=failing(BusyError))
async def start_job(body: NewJob, serving: ServingNow, caller: OperatorNow) -> StartedJob:
    """Repartition a graph in the background. ``record`` is the id of its record in the jobs."""
    serving.require_writing()
    order = JobOrder(if_changed=body.if_changed, max_drift=body.max_drift, keep=body.keep)
    graph = await visible_graph(serving, caller, body.graph)
    job = LiveJob(graph, caller, "repartition")
    serving.jobs.start(job, partial(repartition, serving.pgs, graph, order, job.begin))
    await job.wait_for_record()
    return describe_job(job)


@router.get("/jobs/{job}")
async def show_job(job: JobId, serving: ServingNow, caller: CallerNow) -> Json:
    """Return the whole record of a job, by the id of the record or of the job in progress."""
    if job in serving.jobs.live.by_id:
        live = serving.jobs.find(job, caller)
        if not live.record:
            return describe_job(live).model_dump()
        job = live.record
    try:
        record = await serving.pgs.jobs.get(job)
    except UsageError:
        record = None
    if record is None or not caller.sees(record.graph):
        raise UnknownJobError(f"there is no job {job[:80]}; 'GET /api/jobs' lists those you see")
    return dict(plain_data(record))


@router.get("/cost")
async def cost(
    serving: ServingNow, caller: CallerNow, days: Annotated[int, Query(ge=1, le=366)] = 30
) -> list[DayCost]:
    """Return what the caller's runs cost by day (UTC), graph, session, and models."""
    return [
        replace(one, session=own)
        for one in await serving.pgs.runs.costs(days)
        if caller.sees(one.graph) and (own := caller.own_session(one.session)) is not None
    ]


@router.get("/doctor", responses=failing(ScopeError))
async def doctor(serving: ServingNow, _: UnlimitedNow) -> list[Check]:
    """Check the setup; each problem comes with its fix.

    It looks at all graphs, so this needs a token that is not limited to some.
    """
    return list(await serving.pgs.doctor())


@router.get("/jobs/live/{live}")
async def show_live_job(live: LiveId, serving: ServingNow, caller: CallerNow) -> StartedJob:
    """Return a job of this server that is in progress, or has just ended."""
    return describe_job(serving.jobs.find(live, caller))


@router.delete("/jobs/live/{live}", status_code=202)
async def cancel_job(live: LiveId, serving: ServingNow, caller: OperatorNow) -> StartedJob:
    """Cancel a job. What it has done by then stays."""
    job = serving.jobs.find(live, caller)
    await serving.jobs.live.cancel(job)
    return describe_job(job)


async def _follow_job(
    live: LiveId, serving: ServingNow, caller: CallerNow, last_id: LastId = None
) -> AsyncIterator[LiveJob]:
    """Yield a job of this process, and count its stream.

    Raises UnknownJobError, and HTTPException with 204 for a reader that has received all events.
    """
    job = serving.jobs.find(live, caller)
    if not is_active(job) and has_received_all(job.log, last_id):
        raise HTTPException(204)
    with serving.streaming(job.graph):
        yield job


@router.get(
    "/jobs/live/{live}/events", response_class=EventSourceResponse, responses=NO_MORE_EVENTS
)
async def job_events(
    job: Annotated[LiveJob, Depends(_follow_job)], last_id: LastId = None
) -> AsyncIterator[ServerSentEvent]:
    """Stream the events of a job, from the first one or after ``Last-Event-ID``.

    If the last event was sent before, the status is 204, so that browsers do not connect again.
    """

    async def snapshot() -> Json:
        return describe_job(job).model_dump()

    async for event in stream_events(job.log, last_id, snapshot):
        yield event


def describe_job(job: LiveJob) -> StartedJob:
    """Return a job with its links."""
    return StartedJob(
        **job.shown(),
        state=job.state,
        events=f"/api/jobs/live/{job.id}/events",
        record=job.record or None,
        jobs=f"/api/jobs?graph={job.graph}",
    )


@metrics_router.get(METRICS_PATH, response_class=Response)
async def metrics(serving: ServingNow, caller: ScraperNow) -> Response:
    """Return metrics in the text format of Prometheus, for tokens of the role metrics."""
    counted = serving.board.metrics.figures.of_graphs(caller.graphs)
    graphs = (await serving.graph_metrics.figures()).of_graphs(caller.graphs)
    return Response(
        exposition(_count_current(serving, caller), counted, graphs), media_type=CONTENT_TYPE
    )


def _count_current(serving: Serving, caller: Caller) -> MetricFigures:
    """Return the current numbers of runs and streams, for graphs that the caller sees."""
    running, waiting = serving.board.counts(caller)
    figures = MetricFigures()
    figures.set(INFO, 1, __version__)
    figures.set(RUNNING, running)
    figures.set(WAITING, waiting)
    streams = (count for graph, count in serving.streams.items() if caller.sees(graph))
    figures.set(STREAMS, sum(streams))
    return figures
