"""Jobs of this server: started, followed, and cancelled."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Depends, Path
from fastapi.exceptions import HTTPException
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BaseModel

from pgs_neo4j.text.json_data import Json
from pgs_neo4j.web.jobs.board import JobState, LiveJob
from pgs_neo4j.web.jobs.served_jobs import JobKind
from pgs_neo4j.web.routes.ids import JOB_ID
from pgs_neo4j.web.routes.router import api_router
from pgs_neo4j.web.routes.runs import HEARD_ALL, LastId
from pgs_neo4j.web.runs.stream import has_heard_all, stream_events
from pgs_neo4j.web.shared import CallerNow, OperatorNow, ServingNow

router = api_router("operations")

LiveId = Annotated[str, Path(pattern=JOB_ID, description="id of a job in progress, or just ended")]


class StartedJob(BaseModel):
    """A job that was started: its events, and the id of its record, null until it has one."""

    job: str
    graph: str
    kind: JobKind
    state: JobState
    events: str
    record: str | None
    jobs: str


@router.get("/jobs/live/{live}")
async def show_live_job(live: LiveId, serving: ServingNow, caller: CallerNow) -> StartedJob:
    """Return a job of this server that is in progress, or has just ended."""
    return started(serving.jobs.find(live, caller))


@router.delete("/jobs/live/{live}", status_code=202)
async def cancel_job(live: LiveId, serving: ServingNow, caller: OperatorNow) -> StartedJob:
    """Cancel a job. What it has done by then stays."""
    job = serving.jobs.find(live, caller)
    await serving.jobs.cancel(job)
    return started(job)


async def _followed(
    live: LiveId, serving: ServingNow, caller: CallerNow, last_id: LastId = None
) -> AsyncIterator[LiveJob]:
    """Yield a job of this process.

    Raises UnknownJobError, and HTTPException with 204 for a reader that has heard all.
    """
    job = serving.jobs.find(live, caller)
    if not job.active and has_heard_all(job.log, last_id):
        raise HTTPException(204)
    with serving.streaming(job.graph):
        yield job


@router.get("/jobs/live/{live}/events", response_class=EventSourceResponse, responses=HEARD_ALL)
async def job_events(
    job: Annotated[LiveJob, Depends(_followed)], last_id: LastId = None
) -> AsyncIterator[ServerSentEvent]:
    """Stream the events of a job, from the first one or after ``Last-Event-ID``.

    The answer to a reader that has had the last one is 204, after which it does not come back.
    """

    async def snapshot() -> Json:
        return started(job).model_dump()

    async for event in stream_events(job.log, last_id, snapshot):
        yield event


def started(job: LiveJob) -> StartedJob:
    """Return a job with its links."""
    return StartedJob(
        **job.shown(),
        state=job.state,
        events=f"/api/jobs/live/{job.id}/events",
        record=job.record or None,
        jobs=f"/api/jobs?graph={job.graph}",
    )
