"""``/mcp`` in the application: who calls, what a run costs at most, and a missing library."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from pgs_neo4j.engine.live_work import is_active
from pgs_neo4j.errors import BudgetError, BusyError, ModelError
from pgs_neo4j.events import PhaseStarted, RunStarted
from pgs_neo4j.mcp_server.questions import LiveQuestion, QuestionBoard
from pgs_neo4j.model import Answer
from pgs_neo4j.web.access.callers import OWNER, Caller, ForbiddenError
from pgs_neo4j.web.agents import _launch, _name_of
from pgs_neo4j.web.runs.awaited import RunCancelledError, start_awaited
from pgs_neo4j.web.runs.board import LiveRun, RunBoard
from pgs_neo4j.web.shared import Serving
from tests.fakes.records import SPENT, answered, giving
from tests.fakes.tokens import unchanged
from tests.in_process import serving_of
from tests.papers import ROOT

PROGRAM = """
import sys
sys.modules["mcp"] = None
from starlette.testclient import TestClient
from pgs_neo4j.web.access.tokens import Tokens
from pgs_neo4j.web.app import create_app
from pgs_neo4j.web.runs.board import RunBoard
from pgs_neo4j.web.shared import Serving
from tests.fakes.tokens import unchanged
with TestClient(create_app(Serving(None, RunBoard(1, unchanged), Tokens(), "c"))) as http:
    for path in ("/mcp", "/api/health"):
        print(http.get(path).status_code, http.get(path).text)
"""


ANN = Caller("ann", tenant=True, cost_per_day=1.0)


class Asked:
    """Work that notes what it may cost."""

    def __init__(self, error: Exception | None = None) -> None:
        self.limits: list[float | None] = []
        self.error = error

    async def __call__(self, hear: Any, max_cost: float | None) -> Answer:
        self.limits.append(max_cost)
        hear(RunStarted("r1", resumed=False))
        hear(PhaseStarted("route"))
        if self.error is not None:
            raise self.error
        return answered()


def serving(**more: Any) -> Serving:
    """A server on a day on which ann spent 0.4."""
    runs = SimpleNamespace(costs=giving([replace(SPENT, cost=0.4)]))
    return serving_of(SimpleNamespace(runs=runs, config=SimpleNamespace(max_cost=0.5)), **more)


def a_question(max_cost: float | None = None) -> LiveQuestion:
    return LiveQuestion("r1", "papers", "ann / mcp", "Why?", max_cost)


@pytest.mark.parametrize(
    ("day", "wanted", "most"),
    [(None, None, None), (None, 0.2, 0.2), (0.7, None, 0.3), (1.0, 0.1, 0.1), (9.0, None, 0.5)],
)
async def test_a_run_costs_no_more_than_the_day_and_the_agent_allow(
    day: float | None, wanted: float | None, most: float | None
) -> None:
    ann, work, asked = Caller("ann", tenant=True, cost_per_day=day), Asked(), a_question(wanted)
    server = serving()
    assert (await (await _launch(server, asked, ann, work))).run == "r1"
    assert work.limits == [most if most is None else pytest.approx(most)]
    live = server.board.live.find("r1", ann)
    assert live is not None
    assert live.most_cost == pytest.approx(most or 0.0)
    assert asked.advance.line == "choosing the partitions to read"
    names = [entry.name for entry in live.log.entries]
    assert names == ["accepted", "run_started", "phase_started", "answered"]


async def test_what_may_not_begin_is_refused_and_what_ended_a_run_is_told() -> None:
    work = Asked()
    with pytest.raises(BudgetError, match="ann has spent"):
        await _launch(serving(), a_question(), Caller("ann", tenant=True, cost_per_day=0.3), work)
    with pytest.raises(ForbiddenError):
        await _launch(serving(read_only=True), a_question(), OWNER, work)
    server = serving()
    server.board.live.stopping = True
    with pytest.raises(BusyError, match="stopping"):
        await _launch(server, a_question(), OWNER, work)
    assert work.limits == []
    task = await _launch(serving(), a_question(), OWNER, Asked(ModelError("the key was refused")))
    with pytest.raises(ModelError, match="the key was refused"):
        await task


async def forever(hear: Any) -> Answer:
    await asyncio.Event().wait()
    return answered()


def waiting_for(board: RunBoard, *, cancel: bool) -> tuple[LiveRun, asyncio.Task[Answer]]:
    """A run that never ends, and who waits for it."""
    run = LiveRun(id="r1", caller=OWNER, graph="papers", session="s", question="Why?")
    return run, asyncio.create_task(start_awaited(board, run, forever).answer(cancel=cancel))


async def test_who_stops_waiting_cancels_only_if_told_to_and_hears_of_a_canceled_run() -> None:
    for cancel in (True, False):
        board = RunBoard(1, unchanged)
        run, waiting = waiting_for(board, cancel=cancel)
        while run.state != "running":
            await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
        assert (waiting.cancelled(), is_active(run)) == (True, not cancel)
        await board.live.stop()
    board = RunBoard(0, unchanged)
    run, waiting = waiting_for(board, cancel=False)
    while run.id not in board.live.by_id:
        await asyncio.sleep(0)
    assert run.state == "queued"
    await board.live.cancel(run)
    with pytest.raises(RunCancelledError, match="resume"):
        await waiting


async def test_a_question_that_is_canceled_at_once_does_not_run_on() -> None:
    async def work(hear: Any, max_cost: float | None) -> Answer:
        return await forever(hear)

    server = serving()
    board = QuestionBoard(None, partial(_launch, server))
    asked = await board.start(a_question(), OWNER, work)
    run = server.board.live.by_id["r1"]
    await board.live.cancel(asked)
    assert (asked.cancelled, run.state, is_active(run)) == (True, "cancelled", False)
    starting = asyncio.create_task(board.start(a_question(), ANN, work))
    await asyncio.sleep(0)
    assert board.live.active(), "it asks what is left of the day"
    assert await board.live.stop() == []
    assert (await starting).cancelled
    assert server.board.live.by_id == {"r1": run}


async def test_money_that_is_held_and_not_spent_is_said_to_be_so() -> None:
    ann, server = Caller("ann", tenant=True, cost_per_day=1.0), serving()
    run = LiveRun("r1", "papers", "ann / s", ann, "Why?", most_cost=0.6)
    server.board.start(run, forever)
    with pytest.raises(BudgetError) as raised:
        await server.remaining_cost(ann)
    assert str(raised.value) == (
        "ann has work in progress that may use up the rest of today's limit of 1; ask again when "
        "some of it has ended"
    )
    await server.board.live.cancel(run)
    assert await server.remaining_cost(ann) == pytest.approx(0.5)  # of the 0.6 that are left
    with pytest.raises(BudgetError) as raised:
        await server.remaining_cost(replace(ann, cost_per_day=0.4))
    assert str(raised.value) == "ann has spent today's limit of 0.4; ask again tomorrow (UTC)"


async def test_a_day_that_is_still_to_come_counts_on_its_own() -> None:
    costs = [replace(SPENT, cost=0.4), replace(SPENT, day="9999-12-31", cost=9.0)]
    runs = SimpleNamespace(costs=giving(costs))
    server = serving_of(SimpleNamespace(runs=runs, config=SimpleNamespace(max_cost=None)))
    ann = Caller("ann", tenant=True, cost_per_day=1.0)
    assert await server.remaining_cost(ann) == pytest.approx(0.6)
    with pytest.raises(BudgetError):
        await server.remaining_cost(replace(ann, cost_per_day=0.4))


def test_a_tenant_of_the_name_owner_is_not_the_owner() -> None:
    callers = (OWNER, Caller("owner", tenant=True))
    names = [_name_of({"state": {"caller": caller}}) for caller in callers]
    assert names == ["owner owner", "tenant owner"]


def test_without_the_library_the_server_says_what_to_install() -> None:
    command = [sys.executable, "-c", PROGRAM]
    ended = subprocess.run(command, check=True, cwd=ROOT, capture_output=True, text=True)
    agents, health = ended.stdout.splitlines()
    assert agents.startswith("501 ")
    assert "pip install 'pgs-neo4j[serve,mcp]'" in agents
    assert health.startswith("200 ")
