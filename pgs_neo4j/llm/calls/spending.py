"""Records what calls outside of runs spend: of searches, plans, ingestions, and partitionings.

What was spent on a day (UTC) is one node for all that have the same account, so a busy server does
not fill a database with records of single searches. Runs record what they spend themselves.
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
"""What the money was spent on."""


@asynccontextmanager
async def _allow_all(_: float) -> AsyncIterator[float | None]:
    yield None


@dataclass(frozen=True, slots=True)
class Payer:
    """Who pays for what is not a run: the names of its sessions begin with ``prefix``.

    ``allow`` holds money for calls that cost at most so much, and yields what they may cost
    together, None without a limit. It raises BudgetError where nothing is left.
    """

    prefix: str = ""
    allow: Callable[[float], AbstractAsyncContextManager[float | None]] = _allow_all


_NOBODY = Payer()
_PAYER: ContextVar[Payer] = ContextVar("pgs_payer", default=_NOBODY)


@contextmanager
def paid_by(payer: Payer) -> Iterator[None]:
    """Let a payer pay for what the block does, and the tasks that it starts."""
    mark = _PAYER.set(payer)
    try:
        yield
    finally:
        with suppress(ValueError):  # closed by another task, which never had the payer
            _PAYER.reset(mark)


def current_payer() -> Payer:
    """Return who pays for what is done now."""
    return _PAYER.get()


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """On what money is spent, and by whom.

    ``session`` is that of a run or plan, else what the names of its payer's sessions begin with.
    """

    task: Task
    graph: str
    session: str = ""
    model: str = ""


@dataclass(slots=True, eq=False)
class SpendingRecord:
    """What calls have spent by day, as far as it is stored."""

    db: Database
    account: Account
    _stored: dict[str, Row] = field(default_factory=dict)

    async def store(self, total: Total) -> None:
        """Store what a later total has beyond what is stored."""
        for day, spent in total.days.items():
            figures = spending_figures(spent)
            former = self._stored.get(day, dict.fromkeys(figures, 0))
            if figures == former:
                continue
            more = {name: figures[name] - former[name] for name in figures}
            account = {**asdict(self.account), "day": day}
            key = "\n".join((day, *asdict(self.account).values()))
            add = queries.get("llm/calls/add_spending")
            await self.db.write(add, id=key, account=account, more=more)
            self._stored[day] = figures


def spending_figures(spent: Spent) -> Row:
    """Return an amount as a day stores it; what has no price is counted, not estimated."""
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
    """Return what a run spent on each day, in the form of ``PgsSpending``."""
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
    """Return the id of what a run spent on a day."""
    return f"{run} {day}"


@asynccontextmanager
async def record_spending(db: Database, calls: Calls, account: Account) -> AsyncIterator[None]:
    """Record what calls spend in the body, each before it is sent, and what it was in the end.

    Where nothing limits what they cost, a database that cannot record it keeps none of them.
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
        with suppress(PGSError):  # until then, they count at their worst
            await record.store(calls.ledger.total())

    calls.ledger.begin(calls.spent, store)
    try:
        yield
    finally:
        await to_the_end(settle())


@asynccontextmanager
async def recording_unbegun(db: Database, calls: Calls, account: Account) -> AsyncIterator[None]:
    """Record what the calls of a run have spent, unless the run begins in the body and does so."""
    try:
        yield
    finally:
        if calls.ledger.store is None and calls.ledger.days:
            async with record_spending(db, calls, account):
                pass
