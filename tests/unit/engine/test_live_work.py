"""Live work: one start for an id, limits, cancellation at any moment, and an end in time."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import pytest

from pgs_neo4j.engine import live_work as module
from pgs_neo4j.engine.live_work import LiveBoard, is_active, wait_for_end
from pgs_neo4j.errors import BusyError
from pgs_neo4j.model.scope import NO_SCOPE, Scope, make_scope


@dataclass(slots=True, eq=False)
class Work:
    """Work that counts how often it was closed."""

    id: str
    graph: str
    session: str
    task: asyncio.Task[Any] | None = None
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    ended_at: float | None = None
    closed: int = 0
    scope: Scope = NO_SCOPE

    @property
    def title(self) -> str:
        return f"run {self.id}"

    def close(self) -> None:
        self.closed += 1
        self.ended_at = monotonic()


@dataclass(frozen=True)
class Tenant:
    """Sees some graphs, and sessions that begin with its name."""

    name: str
    graphs: frozenset[str] = frozenset({"papers"})
    scope: Scope = NO_SCOPE

    def sees(self, graph: str) -> bool:
        return graph in self.graphs

    def own_session(self, stored: str) -> str | None:
        return stored if stored.startswith(self.name) else None


def work(number: int = 1, graph: str = "papers", session: str = "ann / s") -> Work:
    return Work(f"r{number}", graph, session)


async def forever() -> None:
    await asyncio.Event().wait()


async def at_once() -> str:
    return "done"


class Stubborn:
    """Work that ignores cancellation until it may end."""

    def __init__(self) -> None:
        self.may_end, self.cancellations = asyncio.Event(), 0

    async def __call__(self) -> None:
        while not self.may_end.is_set():
            try:
                await self.may_end.wait()
            except asyncio.CancelledError:
                self.cancellations += 1


async def test_work_ends_with_its_task_and_its_error_is_logged_by_nobody_else() -> None:
    board, reported = LiveBoard[Work](), list[Any]()
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: reported.append(context.get("exception")))

    async def fail() -> None:
        raise ValueError("it went wrong")

    failed, done = work(1), work(2)
    board.begin(failed, fail)
    board.begin(done, at_once)
    assert (is_active(failed), is_active(done), failed.begun.is_set()) == (True, True, False)
    await wait_for_end(done)
    await wait_for_end(failed)
    assert board.active() == []
    assert failed.begun.is_set()
    assert done.task is not None
    assert done.task.result() == "done"
    board.by_id.clear()
    del failed
    gc.collect()
    loop.set_exception_handler(None)
    assert not any(isinstance(error, ValueError) for error in reported)


async def test_of_two_starts_with_one_id_the_second_is_refused_until_the_first_has_ended() -> None:
    board, first, begun = LiveBoard[Work](), work(), list[str]()

    async def second() -> None:
        begun.append("second")

    board.begin(first, forever)
    with pytest.raises(BusyError, match="run r1 is in progress; follow its events"):
        board.begin(work(), second)
    assert board.by_id == {"r1": first}
    await board.cancel(first)
    again = work()
    await board.begin(again, second)
    assert (board.by_id, begun) == ({"r1": again}, ["second"])


async def test_a_limit_counts_what_is_in_progress() -> None:
    board = LiveBoard[Work]()

    def begin(one: Work) -> None:
        if len(board.active()) >= 2:
            raise BusyError(f"two are in progress; {one.title} has to wait")
        board.begin(one, forever)

    first = work(1)
    for one in (first, work(2)):
        begin(one)
    with pytest.raises(BusyError, match="run r3 has to wait"):
        begin(work(3))
    await board.cancel(first)
    begin(work(3))
    assert [one.id for one in board.active()] == ["r2", "r3"]
    await board.stop()


async def test_work_is_found_and_listed_by_who_sees_its_graph_and_session() -> None:
    board = LiveBoard[Work]()
    own, notes = work(1), work(2, "notes")
    for one in (own, notes, work(3, session="bob / s")):
        board.begin(one, forever)
    ann, bob = Tenant("ann"), Tenant("bob", frozenset({"papers", "notes"}))
    assert board.find("r1", ann) is own
    for id_, viewer in (("r1", bob), ("r2", ann), ("r2", bob), ("r9", ann)):
        assert board.find(id_, viewer) is None
    assert [one.id for one in board.active(ann)] == ["r1"]
    assert [one.id for one in board.active(bob)] == ["r3"]
    assert board.active(graph="notes") == [notes]
    elsewhere = Tenant("ann", scope=make_scope({"org": 7}))
    assert (board.find("r1", elsewhere), board.active(elsewhere)) == (None, [])
    await board.cancel(own)
    assert (board.find("r1", ann), board.active(ann)) == (own, [])
    await board.stop()


@pytest.mark.parametrize("end", ["cancel", "stop"])
async def test_work_that_is_canceled_before_its_first_step_ends(end: str) -> None:
    board, steps = LiveBoard[Work](), list[str]()

    async def carry_out() -> None:
        steps.append("first")

    begun = work()
    board.begin(begun, carry_out)
    if end == "stop":
        assert await board.stop() == []
    else:
        await board.cancel(begun)
    assert (is_active(begun), begun.begun.is_set(), steps) == (False, True, [])


async def test_cancelling_waits_for_the_cleanup_and_leaves_what_has_ended() -> None:
    board, cleaned = LiveBoard[Work](), asyncio.Event()

    async def clean_up() -> None:
        try:
            await forever()
        finally:
            await asyncio.sleep(0)
            cleaned.set()

    begun = work()
    task = board.begin(begun, clean_up)
    await asyncio.sleep(0)
    await asyncio.gather(board.cancel(begun), board.cancel(begun))
    assert (cleaned.is_set(), task.cancelled()) == (True, True)
    ended = begun.ended_at
    await board.cancel(begun)
    assert begun.ended_at == ended


async def test_a_wait_ends_in_time_and_cancels_nothing() -> None:
    board, begun = LiveBoard[Work](), work()
    board.begin(begun, forever)
    await wait_for_end(begun, 0.01)
    waiting = asyncio.create_task(wait_for_end(begun))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([waiting])
    assert (waiting.cancelled(), is_active(begun)) == (True, True)
    await board.stop()
    await wait_for_end(work(9))  # it was never started


@pytest.mark.parametrize("patient", [False, True])
async def test_what_ignores_cancellation_is_named_and_not_waited_for(
    patient: bool, caplog: pytest.LogCaptureFixture
) -> None:
    board = LiveBoard[Work](stop_s=0.05, cancel_s=None if patient else 0.05)
    stubborn = Stubborn()
    late, other = work(1), work(2)
    board.begin(late, stubborn)
    board.begin(other, forever)
    await asyncio.sleep(0)
    canceling = asyncio.create_task(board.cancel(late))
    await asyncio.wait([canceling], timeout=None if not patient else 0.05)
    assert (canceling.done(), is_active(late)) == (not patient, True)
    assert await board.stop() == [late]
    assert "run r1 did not stop in 0.05 s" in caplog.text
    assert "r2" not in caplog.text
    assert (stubborn.cancellations, is_active(other)) == (2, False)
    stubborn.may_end.set()
    await wait_for_end(late)
    await canceling
    assert not is_active(late)
    assert await board.stop() == []


async def test_nothing_begins_while_the_board_stops_or_after() -> None:
    board, begun = LiveBoard[Work](), list[str]()

    async def begin_another() -> None:
        try:
            await forever()
        finally:
            with pytest.raises(BusyError, match="the server is stopping"):
                board.begin(work(2), at_once)
            begun.append("refused")

    board.begin(work(), begin_another)
    await asyncio.sleep(0)
    assert await board.stop() == []
    assert (begun, [*board.by_id]) == (["refused"], ["r1"])
    with pytest.raises(BusyError, match="the server is stopping"):
        board.begin(work(3), at_once)


@pytest.mark.parametrize("kept", [0, 2])
async def test_work_that_ended_is_forgotten_in_time_and_by_count(
    kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, board, lasting = [0.0], LiveBoard[Work](), work(0)
    most = board.most_ended
    for names in (vars(module), globals()):
        monkeypatch.setitem(names, "monotonic", lambda: now[0])
    board.begin(lasting, forever)
    for number in range(1, most + 4):
        now[0] += 0.001
        await board.begin(work(number), at_once)
    assert [*board.by_id] == ["r0", *(f"r{number}" for number in range(3, most + 4))]
    now[0] += board.keep_s - 0.001 * kept + 0.0005
    await board.begin(work(1000), at_once)
    latest = [f"r{number}" for number in range(most + 4 - kept, most + 4)]
    assert [*board.by_id] == ["r0", *latest, "r1000"]
    await board.stop()


Steps = Callable[[], Coroutine[Any, Any, object]]


@pytest.mark.parametrize("steps", [at_once, forever])
@pytest.mark.parametrize("ticks", range(4))
async def test_cancelling_at_any_moment_ends_the_work_once(steps: Steps, ticks: int) -> None:
    board, begun = LiveBoard[Work](), work()
    board.begin(begun, steps)
    for _ in range(ticks):
        await asyncio.sleep(0)
    await board.cancel(begun)
    assert (is_active(begun), begun.closed) == (False, 1)
