"""The demo: a graph of Python's standard library, for a server that has none yet."""

from __future__ import annotations

from functools import partial

from pydantic import BaseModel

from pgs_neo4j.engine import DEMO_GRAPH, DEMO_QUESTIONS
from pgs_neo4j.errors import BusyError, GraphExistsError
from pgs_neo4j.web.jobs.board import LiveJob
from pgs_neo4j.web.jobs.work import load_demo
from pgs_neo4j.web.routes.live_jobs import StartedJob, started
from pgs_neo4j.web.routes.router import BODY, api_router, failing
from pgs_neo4j.web.shared import ServingNow, UnlimitedNow

router = api_router("graphs")


class NewDemo(BaseModel):
    """Nothing: the demo has no options."""

    model_config = BODY


class StartedDemo(StartedJob):
    """The job that makes the demo, and questions to ask it."""

    questions: list[str]


@router.post("/demo", status_code=202, responses=failing(GraphExistsError, BusyError))
async def make_demo(_: NewDemo, serving: ServingNow, caller: UnlimitedNow) -> StartedDemo:
    """Load and partition the demo graph in the background, if the database has no graph yet.

    Needs a token that is not limited to graphs.
    """
    serving.require_writing()
    if await serving.pgs.graphs():
        raise GraphExistsError("there is a graph already; 'pgs demo' makes the demo beside it")
    job = LiveJob(caller, DEMO_GRAPH, "demo")
    begun = started(serving.jobs.start(job, partial(load_demo, serving.pgs, job.begin)))
    return StartedDemo(**begun.model_dump(), questions=list(DEMO_QUESTIONS))
