"""Questions in progress: waited for, found by their callers only, and ended with the server."""

from __future__ import annotations

import asyncio
import os
from types import SimpleNamespace
from typing import Any

import pytest

from pgs_neo4j.errors import BudgetError, BusyError, ModelError
from pgs_neo4j.events import PhaseStarted, RunStarted
from pgs_neo4j.mcp_server import server
from pgs_neo4j.mcp_server.questions import Advance, Inquiries, Inquiry
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
        hear(RunStarted("r000000000001", resumed=False))
        try:
            await self.end.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return ANSWER


async def started(inquiries: Inquiries, run: str = "r000000000001") -> tuple[Inquiry, Work]:
    work = Work()
    inquiry = await inquiries.start(Inquiry(run, "birds", "ann / one", "Why?"), Tenant(), work)
    await asyncio.sleep(0)
    return inquiry, work


async def test_a_wait_reports_what_is_new_and_ends_with_the_work() -> None:
    inquiries, lines = Inquiries(), list[str]()
    inquiry, work = await started(inquiries)

    async def report(advance: Advance) -> None:
        lines.append(advance.line)
        if len(lines) == 1:
            work.hear(PhaseStarted("route"))
        else:
            work.end.set()

    await inquiries.wait(inquiry, 20, report)
    assert lines == ["run r000000000001 began", "choosing the partitions to read"]
    await inquiries.cancel(inquiry)
    assert (inquiry.active, inquiry.answer, inquiry.id) == (False, ANSWER, "r000000000001")
    assert (inquiry.cancelled, work.cancelled) == (False, False)


async def test_a_wait_that_is_over_leaves_the_work_alone() -> None:
    inquiries, reports = Inquiries(), list[Advance]()
    inquiry, work = await started(inquiries)

    async def report(advance: Advance) -> None:
        reports.append(advance)

    await inquiries.wait(inquiry, 0.3, report)
    assert (inquiry.active, inquiry.answer, len(reports)) == (True, None, 1)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await inquiries.wait(inquiry, 20, report)
    assert not work.cancelled
    await inquiries.stop()
    assert work.cancelled


async def test_a_question_is_begun_once_within_the_most_and_found_by_its_caller_only() -> None:
    inquiries = Inquiries(2)
    first, _ = await started(inquiries)
    with pytest.raises(BusyError, match="run r000000000001 is in progress"):
        await started(inquiries)
    await started(inquiries, "r2")
    with pytest.raises(BusyError, match="2 questions are in progress"):
        await started(inquiries, "r3")
    assert inquiries.find("r000000000001", Tenant()) is first
    elsewhere = Tenant(graphs=frozenset({"secrets"}))
    for run, caller in (
        ("r000000000001", Tenant("bob")),
        ("r000000000001", elsewhere),
        ("r3", Tenant()),
    ):
        assert inquiries.find(run, caller) is None
    await inquiries.cancel(first)
    assert (first.cancelled, first.error, first.failure) == (True, "", None)
    again, _ = await started(inquiries)
    assert inquiries.find("r000000000001", Tenant()) is again
    await inquiries.stop()


async def test_the_end_reads_the_errors_that_nobody_asked_for() -> None:
    inquiries = Inquiries()

    async def fail(hear: Any, max_cost: float | None) -> Any:
        raise ModelError("the key was refused")

    inquiry = await inquiries.start(Inquiry("r000000000001", "birds", "s", "Why?"), Tenant(), fail)
    await asyncio.sleep(0)
    await inquiries.stop()
    assert inquiry.error == "the key was refused"


class Launching:
    """A server with limits of its own, which takes its time to look at them."""

    def __init__(self) -> None:
        self.may_begin, self.refusal, self.launched = asyncio.Event(), False, 0

    async def __call__(self, inquiry: Inquiry, caller: Any, work: Any) -> Any:
        await self.may_begin.wait()
        if self.refusal:
            raise BudgetError("the money is spent")
        self.launched += 1
        return work(inquiry.advance.hear, inquiry.max_cost)


async def launching(server: Launching) -> tuple[Inquiries, Inquiry, asyncio.Task[Inquiry]]:
    inquiries, inquiry = Inquiries(1, server), Inquiry("r1", "birds", "ann / one", "Why?")
    starting = asyncio.create_task(inquiries.start(inquiry, Tenant(), Work()))
    await asyncio.sleep(0)
    return inquiries, inquiry, starting


async def test_a_question_holds_its_place_while_its_limits_are_looked_at() -> None:
    server = Launching()
    inquiries, inquiry, starting = await launching(server)
    with pytest.raises(BusyError, match="1 question is in progress"):
        await started(inquiries, "r2")
    inquiries.most = None
    with pytest.raises(BusyError, match="run r1 is in progress"):
        await started(inquiries)
    server.may_begin.set()
    assert await starting is inquiry
    assert (server.launched, inquiries.find("r1", Tenant())) == (1, inquiry)
    await inquiries.stop()


@pytest.mark.parametrize("end", ["cancel", "stop", "leave"])
async def test_a_question_that_is_canceled_while_it_starts_never_begins(end: str) -> None:
    server = Launching()
    inquiries, inquiry, starting = await launching(server)
    if end == "cancel":
        await inquiries.cancel(inquiry)
    elif end == "stop":
        await inquiries.stop()
    else:
        starting.cancel()
        await asyncio.wait([starting])
        await inquiry.wait()
    server.may_begin.set()
    if end == "leave":
        assert starting.cancelled()
    else:
        assert await starting is inquiry
    assert (inquiry.cancelled, inquiry.accepted, server.launched) == (True, False, 0)
    assert inquiries.live == {}


async def test_a_question_that_is_refused_leaves_the_one_before() -> None:
    server = Launching()
    server.may_begin.set()
    inquiries, former, starting = await launching(server)
    await starting
    await inquiries.cancel(former)
    server.refusal = True
    for run in ("r1", "r2"):
        with pytest.raises(BudgetError, match="the money is spent"):
            await started(inquiries, run)
    assert inquiries.live == {"r1": former}


async def test_a_server_that_ends_cancels_the_questions_in_progress(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its client leaves at once: stdin is at its end."""
    stopped: list[Inquiries] = []

    async def stop(self: Inquiries) -> None:
        stopped.append(self)

    reading, writing = os.pipe()
    os.close(writing)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(fileno=lambda: reading))
    monkeypatch.setattr(Inquiries, "stop", stop)
    anything: Any = FakeEngine()
    await server.serve_stdio(anything, read_only=True)
    os.close(reading)
    assert len(stopped) == 1
