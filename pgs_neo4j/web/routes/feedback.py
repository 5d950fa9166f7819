"""What people think of an answer."""

from __future__ import annotations

from pydantic import BaseModel

from pgs_neo4j.errors import BusyError
from pgs_neo4j.model import FeedbackResult, Outcome
from pgs_neo4j.web.routes.router import BODY, api_router, failing
from pgs_neo4j.web.routes.runs import RunId, stored_run
from pgs_neo4j.web.shared import AskerNow, ServingNow

router = api_router("runs")


class Feedback(BaseModel):
    """An outcome, and whether it may replace another one."""

    model_config = BODY

    outcome: Outcome
    replace: bool = False


@router.post("/runs/{run}/feedback", responses=failing(BusyError))
async def give_feedback(
    run: RunId, body: Feedback, serving: ServingNow, caller: AskerNow
) -> FeedbackResult:
    """Say whether an answer was useful. Searches of its graph, by whomever, weigh what it cites."""
    serving.require_writing()
    stored = await stored_run(serving, caller, run)
    return await serving.pgs.runs.feedback(
        run, body.outcome, graph=stored.graph, replace=body.replace
    )
