"""A run's record is closed in every case, and says truly how the run ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from pgs_neo4j.errors import BudgetError, DeadlineError, ModelError, QueryError
from pgs_neo4j.llm.calls.ledger import Ledger, Total
from pgs_neo4j.pgs.runs import recording, runs
from pgs_neo4j.pgs.runs.recording import Recording, hold_record
from pgs_neo4j.pgs.runs.runs import Handle
from tests.fakes.database import FakeDatabase


class Ends:
    """Stands in for the statements that end a run; remembers what they would write."""

    def __init__(self) -> None:
        self.written: list[dict[str, Any]] = []
        self.refuses = 0
        self.taken = False
        self.slow = 0.0
        self.closing = asyncio.Event()

    async def finish(
        self,
        db: object,
        handle: Handle,
        properties: dict[str, Any],
        sweeps: object = (),
        *,
        total: Total | None = None,
    ) -> bool:
        self.closing.set()
        await asyncio.sleep(self.slow)
        if self.refuses:
            self.refuses -= 1
            raise QueryError("a property that it does not take")
        self.written.append({**properties, "sweeps": list(sweeps)})  # type: ignore[call-overload]
        return not self.taken


@dataclass(frozen=True, slots=True)
class Held:
    """Something with a record."""

    recording: Recording


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> Ends:
    stand_in = Ends()

    @asynccontextmanager
    async def alive(db: object, handle: Handle) -> AsyncIterator[None]:
        yield

    monkeypatch.setattr(runs, "finish", stand_in.finish)
    monkeypatch.setattr(runs, "stay_alive", alive)
    return stand_in


def made() -> Recording:
    db: Any = FakeDatabase()
    return Recording(db, Handle("r1", "h"), Ledger())


async def begun() -> Held:
    return Held(made())


def ignore(run: str) -> None:
    assert run == "r1"


@pytest.mark.parametrize(
    ("error", "refuses", "status", "said"),
    [
        (ModelError("the model is gone"), 0, "failed", "the model is gone"),
        (BudgetError("the limit is reached"), 0, "stopped", "the limit is reached"),
        (KeyError("secret"), 0, "failed", "KeyError"),
        (TimeoutError(), 0, "failed", "TimeoutError"),  # of the body itself
        (asyncio.CancelledError(), 0, "interrupted", "CancelledError"),
        (ModelError("a text that Neo4j refuses \ud800"), 1, "failed", "ModelError"),
    ],
)
async def test_the_record_says_how_the_body_ended(
    ends: Ends, error: BaseException, refuses: int, status: str, said: str
) -> None:
    ends.refuses = refuses
    with pytest.raises(type(error)):
        async with hold_record(begun, None, ignore):
            raise error
    assert [(one["status"], one["error"]) for one in ends.written] == [(status, said)]


@pytest.mark.parametrize("canceled", [False, True])
async def test_a_run_that_is_late_or_canceled_is_closed_before_its_caller_goes_on(
    ends: Ends, canceled: bool
) -> None:
    ends.slow = 0.4
    inside = asyncio.Event()
    end = None if canceled else asyncio.get_running_loop().time() + 0.05

    async def work() -> None:
        async with hold_record(begun, end, ignore):
            inside.set()
            await asyncio.sleep(60)

    task = asyncio.create_task(work())
    await inside.wait()
    if canceled:
        task.cancel()
        await ends.closing.wait()
        task.cancel()  # which waits for the record
    with pytest.raises(asyncio.CancelledError if canceled else DeadlineError):
        await task
    assert [one["status"] for one in ends.written] == ["interrupted" if canceled else "stopped"]


async def test_neither_a_run_that_never_began_nor_a_lost_database_hides_the_error(
    ends: Ends, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused() -> Held:
        raise ModelError("no")

    with pytest.raises(ModelError):
        async with hold_record(refused, None, ignore):
            raise AssertionError
    assert ends.written == []
    monkeypatch.setattr(recording, "CLOSE_TIMEOUT_S", 0.01)
    ends.slow = 5.0
    with pytest.raises(BudgetError):
        async with hold_record(begun, None, ignore):
            raise BudgetError("the limit is reached")
    assert ends.written == []
