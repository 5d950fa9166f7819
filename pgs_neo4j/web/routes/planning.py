"""Plans: what a question would read and cost."""

from __future__ import annotations

from pydantic import BaseModel

from pgs_neo4j.engine import check_question
from pgs_neo4j.errors import BudgetError
from pgs_neo4j.model import PlannedCalls, PlannedSweep, PlannedTotal
from pgs_neo4j.web.routes.asking import Question
from pgs_neo4j.web.routes.router import api_router, failing
from pgs_neo4j.web.shared import AskerNow, ServingNow, visible_graph

router = api_router("runs")


class PlannedCost(BaseModel):
    """The likely range of what a run costs without flags; null without prices."""

    low: float | None
    high: float | None


class PlannedRun(BaseModel):
    """What a question would read and cost. ``budget`` says what a limit would leave out.

    ``partitions_note`` says if partitions were made, or if a question would replace them first.
    ``contexts`` say what each model can take at once, and where that is known from.
    ``without_flags`` and ``with_flags`` are the likely range of partitions, calls, tokens, and
    money, and ``most`` is the maximum, also of a model whose replies have to be asked for again.
    """

    graph: str
    session: str
    mode: str
    generation: str
    sweep_model: str
    synthesis_model: str
    sweeps: list[PlannedSweep]
    synthesis: PlannedCalls
    flagged: PlannedCalls
    calls: int
    cached: int
    input_tokens: int
    output_tokens: int
    cost: PlannedCost
    budget: str
    advice: str
    partitions_note: str
    contexts: dict[str, str]
    context_advice: list[str]
    note: str
    unmatched: bool
    without_flags: PlannedTotal
    with_flags: PlannedTotal
    most: PlannedTotal


@router.post("/plan", responses=failing(BudgetError))
async def plan(body: Question, serving: ServingNow, caller: AskerNow) -> PlannedRun:
    """Return what a question would read and cost. No language model is called.

    No partitions are replaced; ``partitions_note`` says whether a question would replace them
    first. Those of a graph that has none, or none of its present definition, are made. An embedding
    model behind an endpoint is called: that counts, and needs money that is left for today.
    """
    serving.require_writing()
    check_question(body.question)
    graph = await visible_graph(serving, caller, body.graph)
    planned = await serving.pgs.plan(
        body.question,
        graph=graph,
        mode=body.mode,
        session_id=caller.stored_session(body.session),
        full_sweep=body.full_sweep,
        structure_only=body.structure_only,
        **body.knobs(),
    )
    names = (
        *("graph", "mode", "generation", "sweep_model", "synthesis_model", "synthesis"),
        *("flagged", "calls", "cached", "input_tokens", "output_tokens", "budget", "advice"),
        *("partitions_note", "without_flags", "with_flags", "most"),
    )
    return PlannedRun(
        session=body.session,
        sweeps=list(planned.sweeps),
        cost=PlannedCost(low=planned.low, high=planned.high),
        contexts=dict(planned.contexts),
        context_advice=list(planned.context_advice),
        note=planned.routing.note,
        unmatched=planned.routing.unmatched,
        **{name: getattr(planned, name) for name in names},
    )
