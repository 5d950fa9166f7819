"""Jobs, costs, and checks, for those who run the server."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Annotated

from fastapi import Path, Query
from pydantic import BaseModel, Field

from pgs_neo4j.engine import Check, DayCost, JobOrder
from pgs_neo4j.errors import BusyError, UsageError
from pgs_neo4j.text.json_data import Json, plain_data
from pgs_neo4j.web.access.callers import UnknownJobError
from pgs_neo4j.web.jobs.board import LiveJob
from pgs_neo4j.web.jobs.work import repartition
from pgs_neo4j.web.routes.live_jobs import StartedJob, started
from pgs_neo4j.web.routes.router import BODY, WHOLE, GraphFilter, api_router, failing
from pgs_neo4j.web.shared import CallerNow, OperatorNow, ServingNow, UnlimitedNow, visible_graph

router = api_router("operations")

JobId = Annotated[str, Path(max_length=100, description="id of the record")]


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
    """Return the caller's jobs in progress on this server; the owner's are all of them."""
    if graph is not None:
        await visible_graph(serving, caller, graph)
    return [started(job) for job in serving.jobs.active(caller, graph)]


@router.post("/jobs", status_code=202, responses=failing(BusyError))
async def start_job(body: NewJob, serving: ServingNow, caller: OperatorNow) -> StartedJob:
    """Repartition a graph in the background of this server. ``record`` tells how far it is."""
    serving.require_writing()
    order = JobOrder(if_changed=body.if_changed, max_drift=body.max_drift, keep=body.keep)
    graph = await visible_graph(serving, caller, body.graph)
    job = LiveJob(caller, graph, "repartition")
    serving.jobs.start(job, partial(repartition, serving.pgs, graph, order, job.begin))
    await job.wait_for_record()
    return started(job)


@router.get("/jobs/{job}")
async def show_job(job: JobId, serving: ServingNow, caller: CallerNow) -> Json:
    """Return the whole record of a job, by its id or by that of the job in progress."""
    if job in serving.jobs.live:
        live = serving.jobs.find(job, caller)
        if not live.record:
            return started(live).model_dump()
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


@router.get("/doctor")
async def doctor(serving: ServingNow, _: UnlimitedNow) -> list[Check]:
    """Check the setup; each problem comes with its fix.

    It looks at all graphs, so this needs a token that is not limited to some.
    """
    return list(await serving.pgs.doctor())
