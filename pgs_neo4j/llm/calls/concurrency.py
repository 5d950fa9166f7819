"""Limits calls in flight: more while they succeed, half when refused."""

from __future__ import annotations

import math

# Calls that take this much longer than the first ones, for their length, mean that the endpoint
# queues them: one more would only wait there. At twice as long, one less is as fast.
QUEUEING = 1.5
OVERLOADED = 2.0


class ConcurrencyLimit:
    """Additive increase, multiplicative decrease (Chiu and Jain 1989), with a quick start.

    Begins at ``start`` and never exceeds ``ceiling``. Until the first refusal every call that
    succeeds raises it by one, which doubles it each round; after that it grows by one a round.
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
        """Return how many calls may ever be in flight, at least 1."""
        return max(1, self._ceiling)

    @property
    def calls(self) -> int:
        """Return how many calls may be in flight now, at least 1."""
        return max(1, int(self._value))

    def ended_well(self, *, seconds: float, length: float, full: bool) -> None:
        """Note that a call of a predicted ``length`` came back.

        ``full``: the limit kept other calls waiting.
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
            # Back to the start value, but never above the level that refusals have set.
            self._value = max(min(self._start, self._value), self._value - 1)
        elif full and slower <= QUEUEING:
            step = 1 / self._value if self._refused else 1.0
            self._value = min(float(self._ceiling), self._value + step)

    def refused(self, began: float, now: float) -> None:
        """Note that a call sent at ``began`` was refused for its rate.

        Calls sent before the last halving do not count again.
        """
        if began < self._halved_at:
            return
        self._value = max(1.0, self._value / 2)
        self._refused, self._halved_at = True, now
