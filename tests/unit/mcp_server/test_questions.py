"""Questions in progress: waited for, found by their callers only, and ended with the server."""

from __future__ import annotations

import asyncio
import os
from types import SimpleNamespace
from typing import Any

import pytest

from pgs_neo4j.engine.live_work import LiveBoard, is_active, wait_for_end
from pgs_neo4j.errors import BudgetError, BusyError, ModelError
from pgs_neo4j.events import PhaseStarted, RunStarted
from pgs_neo4j.mcp_server import server
from pgs_neo4j.mcp_server.questions import Advance, LiveQuestion, QuestionBoard
from tests.fakes.mcp_engine import FakeEngine, Tenant

ANSWER: Any = "answer"


class Work:
    """Work that ends when it is told to, and tells whether it was canceled."""

    def __init__(self) -> None:
        self.end = asyncio.Event()
        self.cancelled = False
        self.hear: Any = None

    async def __call__(self, hear: Any, max_cost: float | None) -> Any:
        self.hear = hear
        hear(RunStarted("r1", resumed=False))
        try:
            await self.end.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return ANSWER


async def started(board: QuestionBoard, run: str = "r1") -> tuple[LiveQuestion, Work]:
    work = Work()
    live = await board.start(LiveQuestion(run, "birds", "ann / one", "Why?"), Tenant(), work)
    await asyncio.sleep(0)
    return live, work


async def test_a_wait_reports_what_is_new_and_ends_with_the_work() -> None:
    board, lines = QuestionBoard(), list[str]()
    live, work = await started(board)

    async def report(advance: Advance) -> None:
        lines.append(advance.line)
        if len(lines) == 1:
            work.hear(PhaseStarted("route"))
        else:
            work.end.set()

    await board.wait(live, 20, report)
    assert lines == ["run r1 began", "choosing the partitions to read"]
    await board.live.cancel(live)
    assert (is_active(live), live.answer, live.id) == (False, ANSWER, "r1")
    assert (live.cancelled, work.cancelled) == (False, False)


async def test_a_wait_that_is_over_leaves_the_work_alone() -> None:
    board, reports = QuestionBoard(), list[Advance]()
    live, work = await started(board)

    async def report(advance: Advance) -> None:
        reports.append(advance)

    await board.wait(live, 0.3, report)
    assert (is_active(live), live.answer, len(reports)) == (True, None, 1)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await board.wait(live, 20, report)
    assert not work.cancelled
    await board.live.stop()
    assert work.cancelled


async def test_a_question_is_begun_once_within_the_most_and_found_by_its_caller_only() -> None:
    board = QuestionBoard(2)
    first, _ = await started(board)
    with pytest.raises(BusyError, match="run r1 is in progress"):
        await started(board)
    await started(board, "r2")
    with pytest.raises(BusyError, match="2 questions are in progress"):
        await started(board, "r3")
    board.live.stopping = True
    with pytest.raises(BusyError, match="the server is stopping"):
        await started(board, "r3")
    board.live.stopping = False
    assert board.live.find("r1", Tenant()) is first
    elsewhere = Tenant(graphs=frozenset({"secrets"}))
    for run, caller in (
        ("r1", Tenant("bob")),
        ("r1", elsewhere),
        ("r3", Tenant()),
    ):
        assert board.live.find(run, caller) is None
    await board.live.cancel(first)
    assert (first.cancelled, first.error, first.failure) == (True, "", None)
    again, _ = await started(board)
    assert board.live.find("r1", Tenant()) is again
    await board.live.stop()


async def test_the_end_reads_the_errors_that_nobody_asked_for() -> None:
    board = QuestionBoard()

    async def fail(hear: Any, max_cost: float | None) -> Any:
        raise ModelError("the key was refused")

    live = await board.start(LiveQuestion("r1", "birds", "s", "Why?"), Tenant(), fail)
    await asyncio.sleep(0)
    await board.live.stop()
    assert live.error == "the key was refused"


class Launching:
    """A server with limits of its own, which takes its time to look at them."""

    def __init__(self) -> None:
        self.may_begin, self.refusal, self.launched = asyncio.Event(), False, 0

    async def __call__(self, live: LiveQuestion, caller: Any, work: Any) -> Any:
        await self.may_begin.wait()
        if self.refusal:
            raise BudgetError("the money is spent")
        self.launched += 1
        return work(live.advance.hear, live.max_cost)


async def launching(
    server: Launching,
) -> tuple[QuestionBoard, LiveQuestion, asyncio.Task[LiveQuestion]]:
    board, live = QuestionBoard(1, server), LiveQuestion("r1", "birds", "ann / one", "Why?")
    starting = asyncio.create_task(board.start(live, Tenant(), Work()))
    await asyncio.sleep(0)
    return board, live, starting


async def test_a_question_holds_its_place_while_its_limits_are_looked_at() -> None:
    server = Launching()
    board, live, starting = await launching(server)
    with pytest.raises(BusyError, match="1 question is in progress"):
        await started(board, "r2")
    board.most = None
    with pytest.raises(BusyError, match="run r1 is in progress"):
        await started(board)
    server.may_begin.set()
    assert await starting is live
    assert (server.launched, board.live.find("r1", Tenant())) == (1, live)
    await board.live.stop()


@pytest.mark.parametrize("end", ["cancel", "stop", "leave"])
async def test_a_question_that_is_canceled_while_it_starts_never_begins(end: str) -> None:
    server = Launching()
    board, live, starting = await launching(server)
    if end == "cancel":
        await board.live.cancel(live)
    elif end == "stop":
        await board.live.stop()
    else:
        starting.cancel()
        await asyncio.wait([starting])
        await wait_for_end(live)
    server.may_begin.set()
    if end == "leave":
        assert starting.cancelled()
    else:
        assert await starting is live
    assert (live.cancelled, live.accepted, server.launched) == (True, False, 0)
    assert board.live.by_id == {}


async def test_a_question_that_is_refused_leaves_the_one_before() -> None:
    server = Launching()
    server.may_begin.set()
    board, former, starting = await launching(server)
    await starting
    await board.live.cancel(former)
    server.refusal = True
    for run in ("r1", "r2"):
        with pytest.raises(BudgetError, match="the money is spent"):
            await started(board, run)
    assert board.live.by_id == {"r1": former}


async def test_a_server_that_ends_cancels_the_questions_in_progress(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its client leaves at once: stdin is at its end."""
    stopped: list[LiveBoard[Any]] = []

    async def stop(self: LiveBoard[Any]) -> None:
        stopped.append(self)

    reading, writing = os.pipe()
    os.close(writing)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(fileno=lambda: reading))
    monkeypatch.setattr(LiveBoard, "stop", stop)
    anything: Any = FakeEngine()
    await server.serve_stdio(anything, read_only=True)
    os.close(reading)
    assert len(stopped) == 1
