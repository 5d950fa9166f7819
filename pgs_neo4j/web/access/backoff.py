"""Slows down those who guess tokens."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from time import monotonic

FREE, FIRST_S, LONGEST_S = 5, 1.0, 300.0
"""Failures without a wait, the first wait, and the longest; each is twice the one before."""
MOST_ADDRESSES = 10_000


@dataclass(slots=True)
class Backoff:
    """Counts failed log-ins by address, and says how long each has to wait."""

    _failures: OrderedDict[str, tuple[int, float]] = field(default_factory=OrderedDict, repr=False)

    def wait_s(self, address: str) -> float:
        """Return the seconds until an address may try again; 0 if it may now."""
        count, failed_at = self._failures.get(address, (0, 0.0))
        if count < FREE:
            return 0.0
        wait = min(LONGEST_S, FIRST_S * 2.0 ** min(count - FREE, 16))
        return max(0.0, failed_at + wait - monotonic())

    def fail(self, address: str) -> None:
        """Count a failure."""
        count, _ = self._failures.pop(address, (0, 0.0))
        self._failures[address] = (count + 1, monotonic())
        while len(self._failures) > MOST_ADDRESSES:
            self._failures.popitem(last=False)
