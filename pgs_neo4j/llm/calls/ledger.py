"""Records the spending before each call is sent, so that no crash erases it.

A call counts at its worst case from the moment before it is sent. If the process dies, the record
still includes all calls that an endpoint may have charged for. The cost of a call belongs to the
day (UTC) on which it was sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

from pgs_neo4j.errors import PGSError
from pgs_neo4j.llm.calls.outcome import cost_of
from pgs_neo4j.llm.retry import paused
from pgs_neo4j.model import Usage


@dataclass(frozen=True, slots=True)
class Spent:
    """Usage and its cost, which is None for an unpriced model."""

    usage: Usage = field(default_factory=Usage)
    cost: float | None = 0.0

    def __add__(self, other: Spent) -> Spent:
        unpriced = self.cost is None or other.cost is None
        cost = None if unpriced else (self.cost or 0.0) + (other.cost or 0.0)
        return Spent(self.usage + other.usage, cost)


@dataclass(frozen=True, slots=True)
class Total:
    """The total spending of a run; a later total has a higher ``number``.

    ``days`` maps each day that this process has seen (UTC, as in 2026-11-28) to its spending.
    """

    number: int
    spent: Spent
    days: Mapping[str, Spent] = field(default_factory=dict)


Store = Callable[[Total], Awaitable[None]]
"""Writes a total. Totals arrive in any order; the one with the highest number counts."""


@dataclass(slots=True, eq=False)
class CallCost:
    """The usage of one call, None while it is unknown, and its worst case.

    ``day`` is the day on which it was sent. ``counted`` is its final spending, None until the call
    ends.
    """

    worst: Spent
    usage: Usage | None = None
    day: str = ""
    sent: bool = False
    counted: Spent | None = None

    @property
    def refused(self) -> bool:
        """Whether the call was sent but costs nothing."""
        return self.sent and self.usage is not None and not self.usage.calls

    def fail(self, error: BaseException) -> None:
        """Note the cost of a call that failed."""
        self.usage = cost_of(error) if self.sent else Usage()


def worst_case(estimated: int, cost: float | None) -> Spent:
    """Return the spending that a call counts for if its usage never becomes known."""
    return Spent(Usage(calls=1, input_tokens=estimated, estimated=True), cost)


def current_day() -> str:
    """Return the current day in UTC, as in 2026-11-28."""
    return datetime.now(UTC).date().isoformat()


@dataclass(slots=True)
class Ledger:
    """Lists the calls in flight, and stores totals once a run has begun.

    ``count`` returns the run's spending, calls in flight included. ``days`` maps each day to its
    spending, calls in flight excluded.
    """

    count: Callable[[], Spent] = Spent
    store: Store | None = None
    in_flight: list[CallCost] = field(default_factory=list)
    days: dict[str, Spent] = field(default_factory=dict)
    _number: int = 0
    _requested: int = 0
    _stored: int = 0
    _writing: asyncio.Lock = field(default_factory=asyncio.Lock)

    def begin(
        self,
        count: Callable[[], Spent],
        store: Store,
        before: Mapping[str, Spent] | None = None,
    ) -> None:
        """Store totals from now on.

        ``before`` is the spending of a resumed run on each day before it was interrupted.
        """
        self.count, self.store = count, store
        for day, spent in (before or {}).items():
            self.settle(day, spent)

    def total(self) -> Total:
        """Return the current total under a new number."""
        self._number += 1
        return Total(self._number, self.count(), self.by_day())

    def by_day(self) -> dict[str, Spent]:
        """Return the spending of each day, calls in flight included."""
        days = dict(self.days)
        for call in self.in_flight:
            days[call.day] = days.get(call.day, Spent()) + call.worst
        return days

    def settle(self, day: str, spent: Spent) -> None:
        """Add final spending to a day."""
        self.days[day] = self.days.get(day, Spent()) + spent

    async def send(self, call: CallCost, *, free: bool = False) -> None:
        """Record a call that is about to be sent, unless it is free.

        Raises the errors of ``store``.
        """
        call.day = current_day()
        self.in_flight.append(call)
        if not free:
            with paused():
                await self._write()
        call.sent = True

    async def end(self, call: CallCost) -> None:
        """Remove a call that ended from the calls in flight.

        A refused call is also removed from the stored record at once, because the next try may have
        to wait. Any other call stays there at its worst case until its reply or the next call is
        recorded.
        """
        self.in_flight.remove(call)
        if call.counted is not None:
            self.settle(call.day, call.counted)
        if call.refused:
            with suppress(PGSError):  # the write before the next call raises it
                await self._write()

    async def _write(self) -> None:
        """Store a total that includes everything until now.

        Requests that arrive during a write share the next write.
        """
        if self.store is None:
            return
        self._requested += 1
        request = self._requested
        async with self._writing:
            if self._stored >= request:
                return
            included = self._requested
            await self.store(self.total())
            self._stored = included
