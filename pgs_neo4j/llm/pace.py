"""Paces calls to an endpoint by reported limits and a token bucket.

All users of the same endpoint and key in the process share one ``Pace``. Times are seconds of the
event loop's clock.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from pgs_neo4j.llm.retry import paused
from pgs_neo4j.model import Left
from pgs_neo4j.model.ceilings import LONGEST_WAIT_S

MINUTE_S = 60.0


@dataclass(slots=True)
class Bucket:
    """Limits tokens per minute by a leaky bucket (Turner 1986), which is full at first."""

    per_minute: int  # may change at any time; a negative level remains
    level: float = 0.0
    at: float = 0.0

    def __post_init__(self) -> None:
        self.level = float(self.per_minute)

    def take(self, tokens: int, now: float) -> float:
        """Take ``tokens``, and return the seconds to wait before using them.

        Even a call that needs more than a whole minute's tokens is not refused. It waits until the
        bucket is back at zero.
        """
        rate = self.per_minute / MINUTE_S
        self.level = min(float(self.per_minute), self.level + max(0.0, now - self.at) * rate)
        self.at = max(now, self.at)
        self.level -= tokens
        return max(0.0, -self.level / rate)

    def give_back(self, tokens: int) -> None:
        """Give back unused tokens; negative if more were used than taken."""
        self.level = min(float(self.per_minute), self.level + tokens)


@dataclass(slots=True)
class Paid:
    """The tokens that one call reserved, and the tokens that it used."""

    tokens: int
    used: int | None = None


@dataclass(slots=True)
class Pace:
    """The pace of one endpoint; without a ``bucket``, tokens are unlimited."""

    bucket: Bucket | None = None
    _free_at: float = 0.0
    _left: int | None = field(default=None, repr=False)
    _full_at: float = 0.0

    def allow(self, tokens_per_minute: int | None) -> None:
        """Set the endpoint's rate for all its users; None changes nothing."""
        if tokens_per_minute is None:
            return
        if self.bucket is None:
            self.bucket = Bucket(tokens_per_minute)
        self.bucket.per_minute = tokens_per_minute

    def hold(self, wait_s: float, now: float) -> None:
        """Send nothing for ``wait_s`` seconds, as the endpoint requested.

        A wait beyond LONGEST_WAIT_S is ignored here. It ends the run that received it, but must not
        delay other runs, because the endpoint answers each run separately.
        """
        if wait_s <= LONGEST_WAIT_S:
            self._free_at = max(self._free_at, now + wait_s)

    def told(self, left: Left | None, now: float) -> None:
        """Record the remaining capacity that the endpoint reports.

        A reset beyond LONGEST_WAIT_S is ignored. If the report is true, the endpoint refuses the
        next call.
        """
        if left is None:
            return
        if left.requests == 0 and left.requests_reset_s:
            self.hold(left.requests_reset_s, now)
        if left.tokens is None or left.tokens_reset_s is None:
            return
        if left.tokens_reset_s <= LONGEST_WAIT_S:
            self._left, self._full_at = left.tokens, now + left.tokens_reset_s

    def wait_s(self, tokens: int, now: float) -> float:
        """Return the seconds until a call may be sent, ignoring the bucket."""
        wait = self._free_at - now
        if self._left is not None and now >= self._full_at:
            self._left = None
        if self._left is not None and tokens > self._left:
            wait = max(wait, self._full_at - now)
        return max(0.0, wait)

    @asynccontextmanager
    async def entered(self, tokens: int) -> AsyncIterator[Paid]:
        """Wait until ``tokens`` may be sent; yield a record in which the caller sets ``used``.

        ``used`` corrects the estimate, and must be 0 for a call that was not sent or was refused.
        The wait does not count against the time that the call may take.
        """
        clock = asyncio.get_running_loop().time
        while (wait := self.wait_s(tokens, clock())) > 0:  # other calls may change it
            with paused(wait, "the endpoint asks for a pause", asked=True):
                await asyncio.sleep(wait)
        paid = Paid(tokens)
        if self._left is not None:
            self._left -= tokens
        wait = self.bucket.take(tokens, clock()) if self.bucket else 0.0
        try:
            if wait > 0:
                paid.used = 0  # in case the wait is cancelled
                with paused(wait, "tokens_per_minute limits the rate"):
                    await asyncio.sleep(wait)
                paid.used = None
            yield paid
        finally:
            if self.bucket is not None and paid.used is not None:
                self.bucket.give_back(tokens - paid.used)


_SHARED: dict[str, Pace] = {}


def shared(endpoint: str) -> Pace:
    """Return the shared pace of an endpoint and account in this process."""
    return _SHARED.setdefault(endpoint, Pace())
