"""Schedules model calls, as many at once as the endpoint can handle.

The longest calls are sent first. The number of simultaneous calls grows while calls succeed, and is
halved when a call is refused. The module is pure except for the event loop's clock; the caller
decides what a call does. A model tries once, and this layer repeats the try. ``length`` is any
measure of how long a call is likely to take, such as its tokens. It must be the same measure for
all calls.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import math
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import TypeVar

from pgs_neo4j.errors import DeadlineError, ModelRateLimitError, ModelTimeoutError
from pgs_neo4j.llm.pace import Pace
from pgs_neo4j.llm.protocol import EmbeddedTexts
from pgs_neo4j.llm.retry import OnWait, ignore_wait, with_retries
from pgs_neo4j.model import Completion

OVERDUE = 2.0  # times the usual duration of a call of its length; a slower call is a straggler
KNOWN = 3  # number of calls to see before a typical duration is known
REMEMBERED = 50  # number of last calls whose durations determine the usual duration
HOLD_S = 1.0  # pause after a refusal that names no time
GLANCE_S = 0.25  # minimum time between two checks for an overdue call and an idle slot

# If calls take QUEUEING times as long as the first calls did, relative to their length, the
# endpoint queues calls, so one more call would only wait there. If they take OVERLOADED times as
# long, one call less is just as fast.
QUEUEING = 1.5
OVERLOADED = 2.0

T = TypeVar("T")


@dataclass(slots=True)
class Scheduler:
    """Schedules all model calls of a run.

    ``timeout_s`` limits one call with all its tries, starting at its turn. Waiting for a budget or
    for ``tokens_per_minute`` does not count, nor do 300 s of waiting for the endpoint.
    ``deadline`` (the loop's time) limits all calls. With ``hedge``, an overdue call is sent a
    second time while a slot is idle, and the first reply counts.
    """

    limit: ConcurrencyLimit
    timeout_s: float
    deadline: float | None = None
    hedge: bool = False
    in_flight: int = 0
    _waiting: list[tuple[float, int, asyncio.Future[None]]] = field(default_factory=list)
    _order: itertools.count[int] = field(default_factory=itertools.count)
    _rates: deque[float] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    _hungry: list[asyncio.Future[None]] = field(default_factory=list)

    async def call(
        self,
        work: Callable[[], Awaitable[T]],
        pace: Pace,
        *,
        length: float,
        tokens: int,
        who: str = "the model",
        priority: float | None = None,
        until: float | None = None,
        alone: bool = False,
        then: Callable[[T], Awaitable[None]] | None = None,
        on_wait: OnWait = ignore_wait,
    ) -> T:
        """Run ``work`` in its turn, and try again while that may help.

        ``then`` receives the result before another call gets its turn, so a crash never loses more
        calls than may be in flight. ``tokens`` is the size of the call for the endpoint's rate
        limit. ``priority`` replaces ``length`` in the order of waiting calls, and ``until`` is an
        earlier deadline. A call that must be ``alone`` is never hedged. ``on_wait`` is called for
        retries and long waits. Raises the last error of ``work``, ModelTimeoutError after
        ``timeout_s``, and DeadlineError at the deadline.
        """
        turn = _Turn(self, length if priority is None else priority)
        deadline = self.deadline if until is None else until
        try:
            async with asyncio.timeout_at(deadline):
                await turn.begin()
                result = await with_retries(
                    partial(self._try_in_turn, turn, work, pace, length, tokens, alone),
                    deadline=_now() + self.timeout_s,
                    timeout_error=_timeout_error(who, self.timeout_s),
                    on_wait=on_wait,
                )
            if then is not None:
                await then(result)
            return result
        except TimeoutError:
            raise deadline_passed() from None
        finally:
            turn.end()

    async def wait_until_hungry(self) -> None:
        """Wait until the queue is shorter than the number of allowed calls."""
        while len(self._waiting) >= self.limit.calls:
            noticed = asyncio.get_running_loop().create_future()
            self._hungry.append(noticed)
            await noticed

    async def _try_in_turn(
        self,
        turn: _Turn,
        work: Callable[[], Awaitable[T]],
        pace: Pace,
        length: float,
        tokens: int,
        alone: bool,
    ) -> T:
        """Try once; give the turn back on failure."""
        await turn.begin()
        try:
            return await self._try(work, pace, length, tokens, alone)
        except BaseException:
            turn.end()
            raise

    async def _try(
        self,
        work: Callable[[], Awaitable[T]],
        pace: Pace,
        length: float,
        tokens: int,
        alone: bool,
    ) -> T:
        """Run ``work`` at the endpoint's pace, and adjust the limit and the pace by its outcome."""
        began = _now()

        async def once() -> T:
            nonlocal began
            async with pace.entered(tokens) as paid:
                began = _now()
                try:
                    result = await work()
                except ModelRateLimitError as error:
                    paid.used = 0
                    if error.retry is not None:
                        self.limit.refused(began, _now())
                        pace.hold(error.retry.wait_s or HOLD_S, _now())
                    raise
                if isinstance(result, Completion | EmbeddedTexts):
                    paid.used = result.usage.tokens
                if isinstance(result, Completion):
                    pace.told(result.left, _now())
                return result

        hedging = self.hedge and not alone
        result = await (self._hedge(once, length) if hedging else once())
        seconds = _now() - began
        self._rates.append(seconds / max(length, 1.0))
        self.limit.ended_well(seconds=seconds, length=length, full=bool(self._waiting))
        return result

    async def _hedge(self, once: Callable[[], Awaitable[T]], length: float) -> T:
        """Send an overdue call a second time, and return the first reply.

        If the second try fails, the first one continues alone.
        """
        began = _now()
        tasks = [asyncio.ensure_future(once())]
        again = False
        try:
            while True:
                wait = None if again else max(self._due_at(began, length) - _now(), GLANCE_S)
                await asyncio.wait(tasks, timeout=wait, return_when=asyncio.FIRST_COMPLETED)
                ended = next((task for task in tasks if task.done()), None)
                if ended is not None and (len(tasks) == 1 or ended.exception() is None):
                    return ended.result()
                if ended is not None:
                    tasks.remove(ended)  # the other one may still succeed
                elif not again and _now() >= self._due_at(began, length) and self._has_idle_slot():
                    again = True
                    self.in_flight += 1
                    tasks.append(asyncio.ensure_future(once()))
                    tasks[-1].add_done_callback(lambda _: self._release())
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _due_at(self, began: float, length: float) -> float:
        """Return the time at which a call of this length is overdue.

        Until a usual duration is known, this is always a moment from now, so no call is overdue.
        """
        if len(self._rates) < KNOWN:
            return _now() + GLANCE_S
        return began + OVERDUE * median(self._rates) * max(length, 1.0)

    def _has_idle_slot(self) -> bool:
        return len(self._rates) >= KNOWN and not self._waiting and self.in_flight < self.limit.calls

    async def turn(self, priority: float) -> None:
        """Wait for a slot; the highest priority is next, and among equals, the first to wait."""
        granted = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (-priority, next(self._order), granted))
        self._dispatch()
        try:
            await granted
        except asyncio.CancelledError:
            # A slot that was granted just before the cancellation is given to the next call.
            if granted.done() and not granted.cancelled():
                self._release()
            granted.cancel()
            raise

    def _release(self) -> None:
        self.in_flight -= 1
        self._dispatch()

    def _dispatch(self) -> None:
        """Give free slots to waiting calls, and wake everyone who waits for a shorter queue."""
        while self._waiting and self.in_flight < self.limit.calls:
            granted = heapq.heappop(self._waiting)[2]
            if not granted.done():
                self.in_flight += 1
                granted.set_result(None)
        for noticed in self._hungry:
            if not noticed.done():
                noticed.set_result(None)
        self._hungry.clear()


class _Turn:
    """A slot that a call occupies during its tries, but not between them."""

    def __init__(self, scheduler: Scheduler, priority: float) -> None:
        self._scheduler, self._priority, self._held = scheduler, priority, False

    async def begin(self) -> None:
        if not self._held:
            await self._scheduler.turn(self._priority)
            self._held = True

    def end(self) -> None:
        if self._held:
            self._held = False
            self._scheduler._release()


class ConcurrencyLimit:
    """Limits how many calls are in flight.

    The limit follows additive increase and multiplicative decrease (Chiu and Jain 1989), with a
    quick start. It begins at ``start`` and never exceeds ``ceiling``. Until the first refusal, each
    successful call raises it by one, which doubles it each round. After that, it grows by one a
    round.
    """

    def __init__(self, start: int, ceiling: int) -> None:
        self._start = min(start, ceiling)
        self._ceiling = ceiling
        self._value = float(self._start)
        self._refused = False
        self._halved_at = -math.inf
        self._first: list[float] = []
        self._recent = 0.0

    @property
    def ceiling(self) -> int:
        """The number of calls that may ever be in flight, at least 1."""
        return max(1, self._ceiling)

    @property
    def calls(self) -> int:
        """The number of calls that may be in flight now, at least 1."""
        return max(1, int(self._value))

    def ended_well(self, *, seconds: float, length: float, full: bool) -> None:
        """Adjust the limit after a call of this ``length`` has succeeded.

        ``full`` is true if other calls were waiting.
        """
        rate = seconds / max(length, 1.0)
        if len(self._first) < self._start:
            self._first.append(rate)
            self._recent = rate if not self._recent else (self._recent + rate) / 2
            usual = rate
        else:
            usual = sum(self._first) / len(self._first)
            self._recent += (rate - self._recent) / self._start
        slower = self._recent / usual if usual > 0 else 1.0
        if slower > OVERLOADED:
            # Slow calls never lower the limit below the start value. Only refusals do.
            self._value = max(min(self._start, self._value), self._value - 1)
        elif full and slower <= QUEUEING:
            step = 1 / self._value if self._refused else 1.0
            self._value = min(float(self._ceiling), self._value + step)

    def refused(self, began: float, now: float) -> None:
        """Halve the limit after a rate limit refused a call that was sent at ``began``.

        Calls from before the last halving do not halve it again, because they went out at the old
        limit.
        """
        if began < self._halved_at:
            return
        self._value = max(1.0, self._value / 2)
        self._refused, self._halved_at = True, now


def deadline_passed() -> DeadlineError:
    """Return the error for a run that reached its time limit."""
    return DeadlineError(
        "this run reached its time limit (run_timeout_s); what it paid for is kept, and "
        "'pgs resume' continues it"
    )


def _timeout_error(who: str, timeout_s: float) -> ModelTimeoutError:
    return ModelTimeoutError(
        f"{who} did not answer within {timeout_s:g} s; raise model_timeout_s or use a faster model"
    )


def _now() -> float:
    return asyncio.get_running_loop().time()
