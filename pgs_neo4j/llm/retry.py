"""Retries model calls: jittered backoff under one total deadline.

Models try once and say whether another try may help. The scheduler and the embedder call them
through this module, so all tries together cannot exceed the deadline.
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from email.utils import parsedate_to_datetime
from typing import TypeVar, cast

from pgs_neo4j.errors import ModelError, ModelTimeoutError

WAIT_INITIAL_S = 0.5
WAIT_MAX_S = 30.0
WAIT_JITTER_S = 0.5
WAIT_FLOOR_S = 0.05

T = TypeVar("T")


def retry_after_s(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Return the seconds that an endpoint asks to wait.

    They come from ``retry-after-ms`` or ``retry-after``. The latter may be seconds or an HTTP date,
    which is compared with ``now`` (Unix time). None when neither is present or readable; never
    negative.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return max(0.0, milliseconds / 1000)
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None:
        return max(0.0, seconds)
    if not value:
        return None
    try:
        at = parsedate_to_datetime(value).timestamp()
    except (ValueError, OverflowError):
        return None
    return max(0.0, at - (time.time() if now is None else now))


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if math.isfinite(number) else None


async def with_retries(
    call: Callable[[], Awaitable[T]], *, deadline: float, timeout_error: ModelTimeoutError
) -> T:
    """Call again while the ModelError says ``retry`` and time remains.

    ``deadline`` is in the event loop's time, and is postponed while the call is ``paused``. Raises
    the last transient failure when tries or time run out or the endpoint asks for a wait beyond the
    deadline. Raises ``timeout_error`` when the very first try was still running, and any other
    exception of ``call`` unchanged.
    """
    import stamina  # a tenth of a second with tenacity, and only runs that use models need it

    patience = _Patience(deadline)
    token = _PATIENCE.set(patience)
    try:
        async with asyncio.timeout_at(deadline) as patience.bound:
            async for attempt in stamina.retry_context(
                on=patience.decide,
                attempts=None,
                timeout=None,
                wait_initial=WAIT_INITIAL_S,
                wait_max=WAIT_MAX_S,
                wait_jitter=WAIT_JITTER_S,
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
def paused() -> Iterator[None]:
    """Stop the clock of the current call while no request is made."""
    patience = _PATIENCE.get()
    if patience is None:
        yield
        return
    patience.pause()
    try:
        yield
    finally:
        patience.go_on()


class _Patience:
    """Decides after each failure whether to retry, and how long to wait."""

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline
        self.bound: asyncio.Timeout | None = None
        self._pauses = 0
        self._paused_at = 0.0
        self.failures = 0
        self.last: ModelError | None = None

    def pause(self) -> None:
        """Stop the clock; simultaneous tries may pause it together."""
        if not self._pauses:
            self._paused_at = asyncio.get_running_loop().time()
            self._move(None)
        self._pauses += 1

    def go_on(self) -> None:
        """Restart the clock once no pause is left."""
        self._pauses -= 1
        if not self._pauses:
            self.deadline += asyncio.get_running_loop().time() - self._paused_at
            self._move(self.deadline)

    def _move(self, deadline: float | None) -> None:
        if self.bound is not None and not self.bound.expired():
            self.bound.reschedule(deadline)

    def decide(self, error: Exception) -> bool | float:
        """Decide on a retry.

        False: give up. True: exponential backoff. A number: wait that many seconds.
        """
        retry = error.retry if isinstance(error, ModelError) else None
        if retry is None:
            return False
        self.failures += 1
        self.last = cast("ModelError", error)
        if retry.tries is not None and self.failures >= retry.tries:
            return False
        if retry.wait_s is None:
            return True
        # "Retry-After: 0" must not cause a busy loop, nor equal waits a stampede.
        wait_s = max(retry.wait_s, min(WAIT_MAX_S, WAIT_FLOOR_S * 2**self.failures))
        wait_s += random.uniform(0.0, wait_s / 10)
        return wait_s if asyncio.get_running_loop().time() + wait_s < self.deadline else False


_PATIENCE: ContextVar[_Patience | None] = ContextVar("patience", default=None)
