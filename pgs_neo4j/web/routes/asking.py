"""Questions in API requests: their fields, their planned cost, and how they are answered."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal, Unpack, cast

from pydantic import BaseModel, Field

from pgs_neo4j.config import SHAPING, Knobs, PGSConfig
from pgs_neo4j.engine import PGS, Request, check_question
from pgs_neo4j.errors import BudgetError, ModelError, UsageError
from pgs_neo4j.events import OnEvent
from pgs_neo4j.model import Answer, Mode, PlannedCalls, PlannedSweep, PlannedTotal, SearchMode
from pgs_neo4j.text.json_data import Json
from pgs_neo4j.web.routes.router import BODY, WHOLE, api_router, failing
from pgs_neo4j.web.runs.board import LiveRun
from pgs_neo4j.web.shared import AskerNow, ServingNow, visible_graph

router = api_router("runs")
LIMITS = ("max_calls", "max_tokens", "max_cost", "run_timeout_s", "max_sweep_partitions")
QuestionText = Annotated[str, Field(max_length=20_000, json_schema_extra={"pattern": r"\S"})]
"""The pattern only informs clients; ``check_question`` refuses empty questions."""


class Question(BaseModel):
    """A question to a graph; what is left out is as configured."""

    model_config = BODY

    question: QuestionText
    graph: Annotated[str | None, Field(max_length=64)] = None
    session: Annotated[str, Field(min_length=1, max_length=120)] = "default"
    mode: Mode = "full"
    full_sweep: bool = False
    structure_only: bool = False
    top_k: Annotated[
        Annotated[int, Field(ge=1, le=1000), WHOLE] | None,
        Field(description="answer from so many nodes first"),
    ] = None
    search_mode: Annotated[SearchMode | None, Field(description="how these nodes are found")] = None
    answer_from: Annotated[
        Literal["sweeps", "search"],
        Field(description="search: from the nodes that a search finds; no partition is swept"),
    ] = "sweeps"
    max_calls: Annotated[int, Field(ge=1, le=1_000_000), WHOLE] | None = None
    max_tokens: Annotated[int, Field(ge=1, le=10_000_000_000), WHOLE] | None = None
    max_cost: Annotated[float | None, Field(gt=0, le=1e9)] = None
    max_sweep_partitions: Annotated[int, Field(ge=1, le=100_000), WHOLE] | None = None
    run_timeout_s: Annotated[float | None, Field(gt=0, le=1e7)] = None
    max_unmatched_tokens: Literal["none"] | None = None
    strict: Annotated[
        bool | None, Field(description="strike sentences that are in doubt twice")
    ] = None

    def lower_limits(self, config: PGSConfig) -> Question:
        """Return the question with its limits lowered to the configured limits."""
        limits = {name: getattr(config, name) for name in LIMITS}
        body = {name: getattr(self, name) for name in LIMITS}
        above = {
            name: most
            for name, most in limits.items()
            if most is not None and body[name] is not None and body[name] > most
        }
        return self.model_copy(update=above)

    def check_key(self, key: str | None) -> None:
        """Raise UsageError for a key with options that make a repeated request unrecognizable."""
        searched = self.top_k is not None or self.search_mode is not None
        if key is not None and searched and self.answer_from == "sweeps":
            raise UsageError(
                "an Idempotency-Key cannot be combined with top_k or search_mode; leave one of "
                "them out"
            )

    def distinct(self) -> Json:
        """Return the values that distinguish the question from others of its session.

        Limits that do not change what is read are left out.
        """
        return self.model_dump(exclude={"graph", "session"} | (set(LIMITS) - set(SHAPING)))

    def knobs(self) -> Knobs:
        """Return the limits and the strictness that the question sets."""
        names = (*LIMITS, "max_unmatched_tokens", "strict")
        values = {name: getattr(self, name) for name in names}
        return cast(Knobs, {name: value for name, value in values.items() if value is not None})

    def request(self, graph: str, session: str) -> Request:
        """Return the request to the engine, with the caller's graph and stored session."""
        return Request(
            self.question,
            graph=graph,
            mode=self.mode,
            session=session,
            full_sweep=self.full_sweep,
            structure_only=self.structure_only,
            knobs=self.knobs(),
        )


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
    first. If the graph has none for its present definition, they are made. An embedding model
    behind an endpoint is called. Its cost counts toward the daily limit, which must not be used up.
    """
    serving.require_writing()
    check_question(body.question)
    graph = await visible_graph(serving, caller, body.graph)
    planned = await serving.pgs.plan(body.request(graph, caller.stored_session(body.session)))
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


async def answered_before(pgs: PGS, body: Question, run: LiveRun) -> str | None:
    """Return the id of the run that answered an earlier request with the same key, if any.

    Answers from searches are not looked up. Raises IdempotencyError.
    """
    if run.key is None or body.answer_from == "search":
        return None
    stored = await pgs.runs.repeated(_make_request(body, run))
    return stored.id if stored is not None and stored.properties.get("details") else None


async def carry_out(pgs: PGS, body: Question, run: LiveRun, on_event: OnEvent) -> Answer:
    """Answer the question of a run with the method that it asks for."""
    if body.answer_from == "search":
        return await answer_from_search(
            pgs, run, body.search_mode, body.top_k, on_event, **body.knobs()
        )
    if body.top_k is not None or body.search_mode is not None:
        layered = await pgs.layered_search(
            _make_request(body, run),
            top_k=body.top_k or 20,
            search_mode=body.search_mode,
            on_event=on_event,
        )
        return layered.answer
    return await pgs.execute(_make_request(body, run), on_event=on_event)


def _make_request(body: Question, run: LiveRun) -> Request:
    """Return the request of a run, which also identifies a repeated request."""
    request = body.request(run.graph, run.session)
    return replace(request, run_id=run.id, idempotency_key=run.key)


async def answer_from_search(
    pgs: PGS,
    run: LiveRun,
    mode: SearchMode | None,
    top_k: int | None,
    on_event: OnEvent,
    **knobs: Unpack[Knobs],
) -> Answer:
    """Answer a run from a search. Options that are None are as configured.

    Raises the errors of ``search``.
    """
    found = await pgs.search(
        run.question,
        graph=run.graph,
        mode=mode,
        top_k=top_k,
        answer=True,
        session_id=run.session,
        idempotency_key=run.key,
        run=run.id,
        sessions_of=run.caller.own_prefix,
        cypher=run.caller.graphs is None,
        on_event=on_event,
        **knobs,
    )
    if found.answer is None:
        raise ModelError("the search gave no answer; ask again")
    return found.answer
