"""Routes that start, list, follow, cancel, and resume runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated

from fastapi import Depends, Header, Path, Query
from fastapi.exceptions import HTTPException
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BaseModel

from pgs_neo4j.config import lower_limit
from pgs_neo4j.engine import StoredRun, check_question
from pgs_neo4j.engine.live_work import is_active
from pgs_neo4j.errors import BudgetError, BusyError, IdempotencyError, UnknownRunError
from pgs_neo4j.text.json_data import Json, plain_data
from pgs_neo4j.web.access.callers import Caller, UnrecordedRunError
from pgs_neo4j.web.routes.asking import Question, answered_before, carry_out
from pgs_neo4j.web.routes.router import RUN_ID, Responses, api_router, failing
from pgs_neo4j.web.runs.board import LiveRun
from pgs_neo4j.web.runs.events import MOST_ID, has_received_all, stream_events, stream_snapshots
from pgs_neo4j.web.runs.served_data import run_snapshot
from pgs_neo4j.web.served_work import RunState
from pgs_neo4j.web.shared import (
    AskerNow,
    CallerNow,
    Serving,
    ServingNow,
    check_search_mode,
    visible_graph,
)

router = api_router("runs")

RunId = Annotated[str, Path(pattern=RUN_ID, description="id of the run")]
Key = Annotated[str | None, Header(alias="Idempotency-Key", min_length=1, max_length=200)]
LastId = Annotated[int | None, Header(alias="Last-Event-ID", ge=0, le=MOST_ID)]

NO_MORE_EVENTS: Responses = {204: {"description": "``Last-Event-ID`` is that of the last event"}}


class AcceptedRun(BaseModel):
    """A run that was accepted; its links."""

    run: str
    state: RunState
    events: str
    answer: str


class ListedRun(BaseModel):
    """A recorded run in short."""

    run: str
    graph: str
    session: str
    mode: str
    status: str
    question: str
    started_at: str
    finished_at: str | None
    answered: bool
    nodes_read: int | None
    nodes_unproven: int | None
    seconds: float | None
    model: str | None
    cost: float | None
    error: str | None


@router.post("/runs", status_code=202, responses=failing(BudgetError, BusyError, IdempotencyError))
async def ask(
    body: Question, serving: ServingNow, caller: AskerNow, key: Key = None
) -> AcceptedRun:
    """Ask a question. The answer comes later: follow the events, or fetch the answer.

    The same request with the same key returns the same run. With ``top_k`` or ``search_mode``,
    only an answer from a search may have a key.
    """
    serving.require_writing()
    check_question(body.question)
    body.check_key(key)
    graph = await visible_graph(serving, caller, body.graph)
    if body.answer_from == "search":
        check_search_mode(serving, caller, body.search_mode)
    run = LiveRun(
        id=serving.pgs.runs.new_id(),
        caller=caller,
        graph=graph,
        session=caller.stored_session(body.session),
        question=body.question,
        key=key,
        asked=body.distinct(),
    )
    # Look up the repeated run before checking the budget, because the run in progress reserves the
    # caller's money.
    former = serving.board.repeated(run)
    if former is not None:
        return describe_accepted(former)
    try:
        limited = await within_budget(serving, caller, body)
    except BudgetError:
        # A stored answer costs nothing, even if this server no longer knows its run.
        answered = await answered_before(
            serving.pgs, _lower_tenant_limits(serving, caller, body), run
        )
        if answered is None:
            raise
        return _make_accepted(answered, "answered")
    run.most_cost = limited.max_cost or 0.0
    former = serving.board.repeated(run)
    if former is not None:
        return describe_accepted(former)
    serving.board.start(run, lambda on_event: carry_out(serving.pgs, limited, run, on_event))
    serving.board.answering.expect_reader(run.id)
    return describe_accepted(run)


@router.get("/runs")
async def list_runs(
    serving: ServingNow,
    caller: CallerNow,
    graph: str | None = None,
    session: str | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> list[ListedRun]:
    """Return the newest runs, the latest first."""
    if graph is not None:
        await visible_graph(serving, caller, graph)
    stored = None if session is None else caller.stored_session(session)
    infos = await serving.pgs.runs(
        graph, stored, limit=limit, graphs=caller.graphs, sessions_of=caller.own_prefix
    )
    return [
        ListedRun(run=info.id, session=own, **_list_facts(info))
        for info in infos
        if caller.sees(info.graph) and (own := caller.own_session(info.session)) is not None
    ]


@router.get("/runs/{run}")
async def show_run(run: RunId, serving: ServingNow, caller: CallerNow) -> Json:
    """Return how far a run is: what was read, what it cost, and how it ended.

    ``elsewhere`` is true while another process carries it out.
    """
    live = serving.board.live.find(run, caller)
    if live is not None and live.state == "queued":
        return {"run": run, "graph": live.graph, "question": live.question, "state": "queued"}
    try:
        stored = await stored_run(serving, caller, run)
        fields = await run_snapshot(serving.pgs, stored, caller)
    except (UnknownRunError, UnrecordedRunError):
        if live is None:
            raise
        return {"run": run, "graph": live.graph, "question": live.question, "state": live.state}
    if live is not None and is_active(live):
        fields["state"] = live.state  # a resumed run is in progress before its record is updated
    elif fields["state"] == "running":
        fields["elsewhere"] = True
    return fields


@router.delete("/runs/{run}", status_code=202, responses=failing(BusyError))
async def cancel(run: RunId, serving: ServingNow, caller: AskerNow) -> Json:
    """Cancel a run. It can be resumed, and pays for nothing twice."""
    serving.require_writing()
    live = serving.board.live.find(run, caller)
    if live is None:
        stored = await stored_run(serving, caller, run)
        if stored.status == "running" and not stored.silent:
            raise BusyError(f"run {run} is in progress in another process; stop it there")
        return {"run": run, "state": stored.status}
    await serving.board.live.cancel(live)
    return {"run": run, "state": live.state}


@router.post("/runs/{run}/resume", status_code=202, responses=failing(BudgetError, BusyError))
async def resume(run: RunId, serving: ServingNow, caller: AskerNow) -> AcceptedRun:
    """Resume a run that stopped, failed, or was cancelled. Its own limit on the cost stays."""
    serving.require_writing()
    stored = await stored_run(serving, caller, run)
    if stored.properties.get("mode") == "cypher":
        caller.require_all_graphs()
    left = await serving.remaining_cost(caller)
    most = None if left is None else lower_limit(stored.properties["config"], "max_cost", left)
    former = serving.board.live.by_id.get(run)
    live = LiveRun(
        id=run,
        caller=caller,
        graph=stored.graph,
        session=stored.session,
        question=str(stored.properties["question"]),
        key=former.key if former else None,
        asked=former.asked if former else None,
        resumed=True,
        most_cost=most or 0.0,
    )
    return describe_accepted(
        serving.board.start(
            live, lambda on_event: serving.pgs.resume(run, on_event=on_event, max_cost=most)
        )
    )


async def _follow_run(
    run: RunId, serving: ServingNow, caller: CallerNow, last_id: LastId = None
) -> AsyncIterator[LiveRun | None]:
    """Yield a run of this process, or None for a recorded run; count its stream.

    Raises UnknownRunError, and HTTPException with 204 for a reader that has received all events.
    """
    live = serving.board.live.find(run, caller)
    if live is not None:
        graph, log, ended = live.graph, live.log, not is_active(live)
    else:
        stored = await stored_run(serving, caller, run)
        graph, log, ended = stored.graph, None, stored.status != "running"
    serving.board.answering.meet_reader(run)
    if ended and has_received_all(log, last_id):
        raise HTTPException(204)
    # Count the stream here, since the generator of an aborted stream may be closed much later.
    with serving.streaming(graph):
        yield live


@router.get("/runs/{run}/events", response_class=EventSourceResponse, responses=NO_MORE_EVENTS)
async def events(
    run: RunId,
    serving: ServingNow,
    caller: CallerNow,
    live: Annotated[LiveRun | None, Depends(_follow_run)],
    last_id: LastId = None,
) -> AsyncIterator[ServerSentEvent]:
    """Stream the events of a run, from the first one or after ``Last-Event-ID``.

    If the last event was sent before, the status is 204, so that browsers do not connect again.
    A run of another process is sent as a ``snapshot`` whenever its record has changed.
    """

    async def snapshot() -> Json:
        return await show_run(run, serving, caller)

    if live is None:
        stream = stream_snapshots(snapshot, serving.stopped)
    else:
        drop = partial(serving.board.drop_deleted, live)
        stream = stream_events(live.log, last_id, snapshot, drop)
    async for event in stream:
        yield event


async def stored_run(serving: Serving, caller: Caller, run: str) -> StoredRun:
    """Return a recorded run.

    Raises UnknownRunError, also if the caller must not see it, and UnrecordedRunError.
    """
    try:
        stored = await serving.pgs.runs.get(run)
    except UnknownRunError:
        live = serving.board.live.find(run, caller)
        if live is None:
            raise
        ended = f"{live.state} before it was recorded"
        what = "has not begun to read yet" if is_active(live) else ended
        raise UnrecordedRunError(
            f"run {run} {what}; 'GET /api/runs/{run}/events' streams its progress"
        ) from None
    caller.check_run(run, stored.graph, stored.session)
    return stored


async def within_budget(serving: Serving, caller: Caller, question: Question) -> Question:
    """Return a question limited to what the caller may still spend today.

    A tenant may lower the configured limits but not raise them.
    """
    most = await serving.remaining_cost(caller)
    question = _lower_tenant_limits(serving, caller, question)
    if most is None:
        return question
    return question.model_copy(update={"max_cost": min(most, question.max_cost or most)})


def _lower_tenant_limits(serving: Serving, caller: Caller, question: Question) -> Question:
    return question.lower_limits(serving.pgs.config) if caller.tenant else question


def describe_accepted(run: LiveRun) -> AcceptedRun:
    """Return an accepted run with its links."""
    return _make_accepted(run.id, run.state)


def _make_accepted(run: str, state: RunState) -> AcceptedRun:
    path = f"/api/runs/{run}"
    return AcceptedRun(run=run, state=state, events=f"{path}/events", answer=f"{path}/answer.html")


def _list_facts(info: object) -> Json:
    names = ListedRun.model_fields.keys() - {"run", "session"}
    return {name: plain_data(getattr(info, name)) for name in names}
