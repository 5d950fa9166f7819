"""Records the spending of searches, plans, ingestions, and partitionings.

All spending of one account on one day (UTC) is one node, so a busy server does not fill a database
with records of single searches. Runs record their own spending.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field, replace
from typing import Literal

from pgs_neo4j.database import queries
from pgs_neo4j.database.connection import Database
from pgs_neo4j.database.queries import Row
from pgs_neo4j.database.tasks import to_the_end
from pgs_neo4j.errors import PGSError
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.calls.ledger import Spent, Total

Task = Literal["run", "search", "plan", "sweep", "synthesis", "ingest", "partition", "analogies"]
"""The kind of work that the money was spent on."""


@asynccontextmanager
async def _allow_all(_: float) -> AsyncIterator[float | None]:
    yield None


@dataclass(frozen=True, slots=True)
class Payer:
    """The payer of calls outside of runs, whose sessions have names that begin with ``prefix``.

    ``allow`` receives the maximum cost of some calls and reserves this money for them. It yields
    their limit, or None without a limit, and raises BudgetError if nothing is left.
    """

    prefix: str = ""
    allow: Callable[[float], AbstractAsyncContextManager[float | None]] = _allow_all


_NO_PAYER = Payer()
_PAYER: ContextVar[Payer] = ContextVar("pgs_payer", default=_NO_PAYER)


@contextmanager
def paid_by(payer: Payer) -> Iterator[None]:
    """Let a payer pay for the calls of the block and of the tasks that it starts."""
    mark = _PAYER.set(payer)
    try:
        yield
    finally:
        # A generator may be closed by another task, which never had the payer.
        with suppress(ValueError):
            _PAYER.reset(mark)


def current_payer() -> Payer:
    """Return the payer of the current task."""
    return _PAYER.get()


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The purpose of spending, and its payer.

    ``session`` is the session of a run or plan, or else the prefix of its payer's sessions.
    """

    task: Task
    graph: str
    session: str = ""
    model: str = ""


@dataclass(slots=True, eq=False)
class SpendingRecord:
    """Adds the spending of calls to the database, by day."""

    db: Database
    account: Account
    _stored: dict[str, Row] = field(default_factory=dict)

    async def store(self, total: Total) -> None:
        """Add the difference between a new total and the stored spending."""
        for day, spent in total.days.items():
            figures = spending_figures(spent)
            former = self._stored.get(day, dict.fromkeys(figures, 0))
            if figures == former:
                continue
            more = {name: figures[name] - former[name] for name in figures}
            named = asdict(self.account)
            named["graph"] = self.db.scope.qualify(named["graph"])
            account = {**named, "day": day}
            key = "\n".join((day, *named.values()))
            add = queries.get("llm/calls/add_spending")
            await self.db.write(add, id=key, account=account, more=more)
            self._stored[day] = figures


def spending_figures(spent: Spent) -> Row:
    """Return an amount as the properties of a day; unpriced calls add 1 to ``unpriced``."""
    usage = spent.usage
    return {
        "calls": usage.calls,
        "cached": usage.cached,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "cost": spent.cost or 0.0,
        "unpriced": int(spent.cost is None and usage.calls > 0),
    }


def run_days(run: str, days: Mapping[str, Spent]) -> list[Row]:
    """Return a run's spending on each day, as properties of ``PgsSpending`` nodes."""
    return [
        {
            "id": run_day_id(run, day),
            "task": "run",
            "run": run,
            "day": day,
            "runs": 1,
            **spending_figures(spent),
        }
        for day, spent in days.items()
    ]


def run_day_id(run: str, day: str) -> str:
    """Return the id of a run's spending on a day."""
    return f"{run} {day}"


@asynccontextmanager
async def record_spending(db: Database, calls: Calls, account: Account) -> AsyncIterator[None]:
    """Record the spending of calls in the body: each before it is sent, and its final cost.

    If the database cannot record a call, the error is raised only if limits apply to the calls.
    """
    session = account.session or current_payer().prefix
    record = SpendingRecord(db, replace(account, session=session))

    async def store(total: Total) -> None:
        try:
            await record.store(total)
        except PGSError:
            if calls.bounded:
                raise

    async def settle() -> None:
        with suppress(PGSError):  # if this fails, the calls stay recorded at their worst-case cost
            await record.store(calls.ledger.total())

    calls.ledger.begin(calls.spent, store)
    try:
        yield
    finally:
        await to_the_end(settle())


@asynccontextmanager
async def recording_unbegun(db: Database, calls: Calls, account: Account) -> AsyncIterator[None]:
    """Record the spending of a run's calls, unless the run begins in the body and does it."""
    try:
        yield
    finally:
        if calls.ledger.store is None and calls.ledger.days:
            async with record_spending(db, calls, account):
                pass
