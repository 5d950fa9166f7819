"""Retries model calls with jittered backoff under one total deadline.

A model tries once, and its error states if another try may help. The scheduler and the embedder
call models through this module, so all tries together cannot exceed the deadline.
"""

from __future__ import annotations

import asyncio
import logging
import math
import random
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TypeVar, cast

from pgs_neo4j.errors import ModelError, ModelTimeoutError
from pgs_neo4j.model.ceilings import LONGEST_WAIT_S, QUIET_WAIT_S
from pgs_neo4j.text.shown import duration

# Each retry is reported as an event. Without this handler, Python would also print the library's
# own line.
logging.getLogger("stamina").addHandler(logging.NullHandler())

WAIT_INITIAL_S = 0.5
WAIT_MAX_S = 30.0
WAIT_JITTER_S = 0.5
WAIT_FLOOR_S = 0.05
NAMED_WAIT_S = 3e9  # the end of a longer wait is not shown
DOUBLINGS = 20  # maximum doublings of a wait; it has reached WAIT_MAX_S by then

T = TypeVar("T")
OnWait = Callable[[float, ModelError | None, str], None]
"""A function that receives each wait in seconds, with the error before it or a reason in words."""


def ignore_wait(wait_s: float, error: ModelError | None, reason: str) -> None:
    """Ignore a wait. This is the default callback."""


def retry_after_s(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Return the seconds that an endpoint asks its callers to wait.

    They come from ``retry-after-ms`` or ``retry-after``, which contains seconds or an HTTP date. A
    date is compared with ``now`` (Unix time, by default the current one). Returns None if neither
    is present and readable. The result is never negative.
    """
    milliseconds = _parse_number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return max(0.0, milliseconds / 1000)
    value = headers.get("retry-after")
    seconds = _parse_number(value)
    if seconds is not None:
        return max(0.0, seconds)
    if not value:
        return None
    try:
        at = parsedate_to_datetime(value).timestamp()
    except (ValueError, OverflowError):
        return None
    return max(0.0, at - (time.time() if now is None else now))


def _parse_number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def wait_sentence(problem: str, wait_s: float, longest_s: float) -> str:
    """Return a sentence about an endpoint that asks for too long a wait, without its period."""
    until = ""
    if wait_s < NAMED_WAIT_S:
        at = datetime.now(UTC) + timedelta(seconds=wait_s)
        until = f", until {at:%Y-%m-%d %H:%M} UTC"
    return (
        f"{problem}, and it asks to wait {duration(wait_s)}{until}, longer than pgs waits "
        f"({duration(longest_s)})"
    )


async def with_retries(
    call: Callable[[], Awaitable[T]],
    *,
    deadline: float,
    timeout_error: ModelTimeoutError,
    on_wait: OnWait = ignore_wait,
) -> T:
    """Call until it succeeds, as long as its ModelError has a ``retry`` and time remains.

    ``deadline`` is in the event loop's time, and is postponed while the call is ``paused``. This
    one deadline limits all tries, their hedges, and their waits. Raises the last transient failure
    if tries or time run out, or if the endpoint asks for a wait beyond the deadline or
    LONGEST_WAIT_S. Raises ``timeout_error`` if the time runs out during the first try. Raises any
    other exception of ``call`` unchanged.
    """
    import stamina  # importing it takes a tenth of a second, and only calls of models need it

    patience = _Patience(deadline, on_wait)
    token = _PATIENCE.set(patience)
    try:
        async with asyncio.timeout_at(deadline) as patience.bound:
            async for attempt in stamina.retry_context(
                on=patience.decide,
                attempts=None,
                timeout=None,
            ):
                with attempt:
                    return await call()
    except TimeoutError:
        raise patience.last or timeout_error from None
    finally:
        patience.bound = None
        _PATIENCE.reset(token)
    raise AssertionError("the retry loop ends by returning or raising")


@contextmanager
def paused(wait_s: float = 0.0, reason: str = "", *, asked: bool = False) -> Iterator[None]:
    """Stop the clock of the current call while no request is made.

    ``wait_s`` is the expected length, if known. Waits that the endpoint ``asked`` for stop the
    clock for at most LONGEST_WAIT_S in all tries together, so they cannot postpone the end forever.
    """
    patience = _PATIENCE.get()
    if patience is None:
        yield
        return
    if wait_s > QUIET_WAIT_S:
        patience.on_wait(wait_s, None, reason)
    patience.pause(asked=asked)
    try:
        yield
    finally:
        patience.go_on()


class _Patience:
    """Decides after each failure whether to retry, and how long to wait."""

    def __init__(self, deadline: float, on_wait: OnWait) -> None:
        self.deadline = deadline
        self.on_wait = on_wait
        self.bound: asyncio.Timeout | None = None
        self._asked_left = LONGEST_WAIT_S
        self._pauses = 0
        self._paused_at = 0.0
        self._paused_for = math.inf
        self.failures = 0
        self.last: ModelError | None = None

    def pause(self, *, asked: bool) -> None:
        """Stop the clock. Simultaneous tries may stop it together."""
        if not self._pauses:
            self._paused_at = asyncio.get_running_loop().time()
            self._paused_for = self._asked_left if asked else math.inf
            self._reschedule(self.deadline + self._asked_left if asked else None)
        self._pauses += 1

    def go_on(self) -> None:
        """End one pause, and restart the clock if no other pause is left."""
        self._pauses -= 1
        if not self._pauses:
            elapsed = asyncio.get_running_loop().time() - self._paused_at
            postponed = min(elapsed, self._paused_for)
            if math.isfinite(self._paused_for):
                self._asked_left -= postponed
            self.deadline += postponed
            self._reschedule(self.deadline)

    def _reschedule(self, deadline: float | None) -> None:
        if self.bound is not None and not self.bound.expired():
            self.bound.reschedule(deadline)

    def decide(self, error: Exception) -> bool | float:
        """Decide on a retry, and report it.

        Returns the seconds to wait before the retry, or False to give up.
        """
        retry = error.retry if isinstance(error, ModelError) else None
        if retry is None:
            return False
        self.failures += 1
        self.last = cast("ModelError", error)
        if retry.tries is not None and self.failures >= retry.tries:
            return False
        if retry.wait_s is None:
            wait_s = min(WAIT_MAX_S, WAIT_INITIAL_S * 2.0 ** min(self.failures - 1, DOUBLINGS))
            wait_s += random.uniform(0.0, WAIT_JITTER_S)
        elif retry.wait_s > LONGEST_WAIT_S:
            return False
        else:
            # "Retry-After: 0" must not cause a busy loop, and equal waits must not cause a
            # stampede.
            least_s = WAIT_FLOOR_S * 2.0 ** min(self.failures, DOUBLINGS)
            wait_s = max(retry.wait_s, min(WAIT_MAX_S, least_s))
            wait_s += random.uniform(0.0, wait_s / 10)
            if asyncio.get_running_loop().time() + wait_s >= self.deadline:
                return False
        self.on_wait(wait_s, self.last, "")
        return wait_s


_PATIENCE: ContextVar[_Patience | None] = ContextVar("patience", default=None)
