"""Runs of a server: their queue, their ends, and their limits."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any

import pytest

from pgs_neo4j.engine.live_work import is_active, wait_for_end
from pgs_neo4j.errors import BusyError, DatabaseUnavailableError, IdempotencyError, StoppedError
from pgs_neo4j.events import OnEvent, PhaseStarted, TextStreamed
from pgs_neo4j.model import Answer
from pgs_neo4j.telemetry.logs import RUN
from pgs_neo4j.web.access.callers import OWNER, Caller
from pgs_neo4j.web.runs import board as module
from pgs_neo4j.web.runs.awaited import start_awaited
from pgs_neo4j.web.runs.board import LiveRun, RunBoard
from pgs_neo4j.web.runs.events import MissedEventsError
from pgs_neo4j.web.runs.served_data import ServedFailure
from pgs_neo4j.web.served_work import held_costs, stop_served
from tests.fakes.records import answered
from tests.fakes.tokens import unchanged


def a_run(number: int = 1, caller: Caller = OWNER, **more: Any) -> LiveRun:
    given = {"graph": "papers", "session": "default", "question": "Why?"} | more
    return LiveRun(id=f"r{number}", caller=caller, **given)


def held(until: asyncio.Event) -> Callable[[OnEvent], Awaitable[Answer]]:
    async def work(hear: OnEvent) -> Answer:
        await until.wait()
        return answered()

    return work


async def at_once(hear: OnEvent) -> Answer:
    hear(PhaseStarted("route"))
    hear(TextStreamed("It is "))
    hear(TextStreamed("so."))
    return answered()


async def told(run: LiveRun) -> list[tuple[str, dict[str, Any]]]:
    return [(entry.name, json.loads(entry.data)) async for entry in run.log.after(0)]


async def test_a_run_tells_its_whole_story() -> None:
    run = RunBoard(1, unchanged).start(a_run(), at_once)
    assert [entry.name for entry in run.log.entries] == ["accepted"], "before anything is done"
    listed = await told(run)
    assert [name for name, _ in listed] == [
        "accepted", "phase_started", "text_streamed", "answered",
    ]  # fmt: skip
    assert listed[0][1] == {"run": "r1", "graph": "papers", "question": "Why?"}
    assert listed[2][1] == {"text": "It is so."}
    assert listed[3][1]["coverage"]["nodes_read"] == 3
    assert (run.state, is_active(run)) == ("answered", False)


async def test_an_error_is_told_with_what_to_do_and_a_fault_without_its_text(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged: list[tuple[str, str]] = []
    caplog.set_level(logging.INFO, logger="pgs_neo4j")

    def note(record: logging.LogRecord) -> bool:
        logged.append((RUN.get(), record.levelname))
        return True

    def failing(error: Exception) -> Callable[[OnEvent], Awaitable[Answer]]:
        async def fail(hear: OnEvent) -> Answer:
            raise error

        return fail

    monkeypatch.setattr(caplog.handler, "filters", [note])
    board = RunBoard(2, unchanged)
    stopped = StoppedError("a limit was reached; raise it")
    run = board.start(a_run(question="private"), failing(stopped))
    assert (await told(run))[-1] == (
        "failed",
        {"run": "r1", "error": "a limit was reached", "code": "stopped", "fix": "raise it"},
    )
    fault = board.start(a_run(2, question="private"), failing(RuntimeError("canary")))
    listed = await told(fault)
    assert listed[-1][1]["code"] == "fault"
    assert listed[-1][1].keys() == ServedFailure.__annotations__.keys()
    assert "canary" not in str(listed)
    await wait_for_end(fault)
    assert fault.task is not None
    with pytest.raises(RuntimeError, match="canary"):
        await fault.task
    assert logged == [
        *(("r1", level) for level in ("INFO", "WARNING", "INFO")),
        *(("r2", level) for level in ("INFO", "ERROR", "INFO")),
    ]
    assert "private" not in caplog.text
    assert "RuntimeError: canary" in caplog.text


async def test_others_wait_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_WAITING", 3)
    monkeypatch.setattr(module, "SHARE", 1)
    board, go = RunBoard(2, unchanged), asyncio.Event()
    runs = [board.start(a_run(number), held(go)) for number in range(5)]
    await asyncio.sleep(0)
    assert [run.state for run in runs] == ["running"] * 2 + ["queued"] * 3
    with pytest.raises(BusyError, match="3 runs are waiting"):
        board.start(a_run(5), held(go))
    await board.live.cancel(runs[3])
    assert runs[3].state == "cancelled"
    go.set()
    assert [name for name, _ in await told(runs[4])][-1] == "answered"
    places = [data["place"] for name, data in await told(runs[4]) if name == "queued"]
    assert places == [3, 2, 1]
    assert board._running == 0


async def test_a_caller_that_asks_a_lot_keeps_no_other_one_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_WAITING", 12)
    ann, bob = Caller("ann", tenant=True), Caller("bob", tenant=True)
    board, gates = RunBoard(1, unchanged), [asyncio.Event() for _ in range(7)]
    runs = [board.start(a_run(number, ann), held(gates[number])) for number in range(4)]
    await asyncio.sleep(0)
    with pytest.raises(BusyError, match="ann has 3 runs waiting"):
        board.start(a_run(9, ann), held(gates[0]))
    runs += [board.start(a_run(number, bob), held(gates[number])) for number in (4, 5)]
    # One of the same name is another caller.
    runs.append(board.start(a_run(6, Caller("ann")), held(gates[6])))
    await asyncio.sleep(0)
    order = []
    while left := [run for run in runs if run.state in ("running", "queued")]:
        (running,) = [run for run in left if run.state == "running"]
        order.append(running.id)
        gates[int(running.id[1:])].set()
        assert running.task is not None
        await running.task
        await asyncio.sleep(0)
        while not any(run.state == "running" for run in runs) and len(left) > 1:
            await asyncio.sleep(0)
    assert order == ["r0", "r4", "r6", "r1", "r5", "r2", "r3"]
    places = [data["place"] for name, data in await told(runs[3]) if name == "queued"]
    assert places[-1] == 1
    assert all(before != after for before, after in pairwise(places))


async def test_cancelling_at_the_moment_of_its_turn_loses_no_place() -> None:
    board, go = RunBoard(1, unchanged), asyncio.Event()
    first, second, third = (board.start(a_run(number), held(go)) for number in range(3))
    await asyncio.sleep(0)
    go.set()
    await asyncio.sleep(0)
    await board.live.cancel(second)
    assert (await told(third))[-1][0] == "answered"
    assert first.state == "answered"
    assert board._running == 0
    assert not board._waiting


async def test_a_run_that_is_cancelled_as_another_ends_keeps_nobody_waiting() -> None:
    board, go = RunBoard(1, unchanged), asyncio.Event()
    board.start(a_run(1), held(go))
    waiting = board.start(a_run(2), held(go))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    # The task of the canceled run takes its next step only after the first run has ended.
    go.set()
    assert waiting.task is not None
    waiting.task.cancel()
    await wait_for_end(waiting)
    assert (board._running, board._waiting) == (0, [])
    assert (await told(board.start(a_run(3), at_once)))[-1][0] == "answered"


async def test_a_run_whose_token_cannot_be_read_ends_as_its_work_does() -> None:
    async def away() -> str | None:
        raise DatabaseUnavailableError("the database is away; start it")

    async def fail(hear: OnEvent) -> Answer:
        raise DatabaseUnavailableError("the database is away; start it")

    awaited = start_awaited(RunBoard(1, away), a_run(), fail)
    with pytest.raises(DatabaseUnavailableError, match="the database is away"):
        await awaited.answer()
    assert (awaited.run.state, awaited.run.token) == ("failed", None)


async def test_a_caller_has_so_many_runs_at_once_and_their_cost_is_held() -> None:
    board, go = RunBoard(8, unchanged), asyncio.Event()
    ann = Caller("ann", tenant=True, runs_at_once=2)
    runs = [board.start(a_run(number, ann, most_cost=2.0), held(go)) for number in range(2)]
    with pytest.raises(BusyError, match="ann has 2 runs in progress"):
        board.start(a_run(3, ann), held(go))
    board.start(a_run(4, most_cost=5.0), held(go))
    with pytest.raises(BusyError, match="r4 is in progress"):
        board.start(a_run(4), held(go))
    assert list(held_costs(board.live, ann).values()) == [2.0, 2.0]
    board.live.stopping = True
    with pytest.raises(BusyError, match="the server is stopping"):
        board.start(a_run(3, ann), held(go))
    board.live.stopping = False
    go.set()
    for run in runs:
        await told(run)
    assert held_costs(board.live, ann) == {}
    again = board.start(a_run(0, ann), at_once)
    assert (await told(again))[-1][0] == "answered"
    await stop_served(board.live)


@pytest.mark.parametrize("stopping", [False, True], ids=["canceled", "the server stops"])
async def test_a_run_that_is_canceled_before_its_first_step_ends(stopping: bool) -> None:
    ann = Caller("ann", tenant=True, cost_per_day=5.0, runs_at_once=1)
    board, carried_out = RunBoard(1, unchanged), list[str]()

    async def work(hear: OnEvent) -> Answer:
        carried_out.append("r1")
        return answered()

    run = board.start(a_run(caller=ann, most_cost=5.0), work)
    await (stop_served(board.live) if stopping else board.live.cancel(run))
    assert (run.state, is_active(run), carried_out) == ("cancelled", False, [])
    assert held_costs(board.live, ann) == {}
    ends = [name for name, _ in await told(run) if name != "stopping"]
    assert ends == ["accepted", "cancelled"]
    if not stopping:
        again = board.start(a_run(caller=ann, resumed=True), work)
        assert [entry.name async for entry in again.log.after(2)] == ["accepted", "answered"]
        assert carried_out == ["r1"]


async def test_the_ids_of_a_resumed_run_are_above_those_before() -> None:
    board = RunBoard(1, unchanged)
    first = board.start(a_run(), at_once)
    await told(first)
    again = board.start(a_run(resumed=True), at_once)
    assert (await anext(again.log.after(first.log.last))).name == "accepted"
    assert (await anext(again.log.after(first.log.last))).id == first.log.last + 1
    elsewhere = board.start(a_run(2, resumed=True), at_once)
    assert elsewhere.log.start > 10**12


async def test_a_key_finds_its_run_in_its_session_only_and_for_the_same_request() -> None:
    board = RunBoard(1, unchanged)
    run = board.start(a_run(key="k", asked={"question": "Why?"}), at_once)
    same = {"key": "k", "asked": {"question": "Why?"}}
    assert board.repeated(a_run(2, **same)) is run
    for other in (same | {"key": "other"}, same | {"session": "other"}, same | {"key": None}):
        assert board.repeated(a_run(2, **other)) is None
    with pytest.raises(IdempotencyError, match="was used for run r1 with another request"):
        board.repeated(a_run(2, key="k", asked={"question": "How?"}))


async def test_runs_are_found_and_counted_by_who_may_see_them() -> None:
    board, go = RunBoard(1, unchanged), asyncio.Event()
    runs = [board.start(a_run(number), held(go)) for number in range(3)]
    board.start(a_run(4, graph="other"), held(go))
    await asyncio.sleep(0)
    assert board.live.find("r1", OWNER) is runs[1]
    assert board.live.find("r9", OWNER) is None
    assert board.live.find("r1", Caller("ann", tenant=True)) is None, "as a run that does not exist"
    assert board.counts(OWNER) == (1, 3)
    assert board.counts(Caller("ann", tenant=True, graphs=frozenset({"papers"}))) == (1, 2)
    assert board.counts(Caller("bob", tenant=True, graphs=frozenset({"other"}))) == (0, 1)
    await stop_served(board.live)
    assert board.counts(OWNER) == (0, 0)


async def test_stopping_cancels_what_runs_and_waits() -> None:
    board = RunBoard(1, unchanged)
    runs = [board.start(a_run(number), held(asyncio.Event())) for number in range(2)]
    await asyncio.sleep(0)
    await stop_served(board.live)
    for run in runs:
        assert [name for name, _ in await told(run)][-2:] == ["stopping", "cancelled"]
    with pytest.raises(BusyError, match="stopping"):
        board.start(a_run(3), at_once)


async def test_events_from_before_a_deletion_are_kept_no_longer() -> None:
    tokens = ["a", "a", "b", None]

    async def token() -> str | None:
        if len(tokens) == 4:  # a reader that comes now has nothing to miss
            await board.drop_deleted(run)
            assert [entry.name for entry in run.log.entries] == ["accepted"]
        return tokens.pop(0)

    board = RunBoard(1, token)
    run = board.start(a_run(), at_once)
    await board.drop_deleted(run)
    assert len(tokens) == 4, "nothing was read yet"
    before = await told(run)
    await board.drop_deleted(run)
    assert await told(run) == before
    for _ in range(2):  # a deletion that has ended, and one in progress
        run.log.ended = False
        run.log.add("usage", {})
        await board.drop_deleted(run)
        assert run.log.entries == []
        run.log.end()
        with pytest.raises(MissedEventsError):
            await told(run)
        assert [one async for one in run.log.after(run.log.last)] == []
