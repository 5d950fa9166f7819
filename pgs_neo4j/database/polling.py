"""Pauses between looks at something that another process may change."""

from __future__ import annotations

from collections.abc import Iterator

GROWTH, LONGEST_S = 1.6, 2.0


def poll_pauses(first_s: float) -> Iterator[float]:
    """Yield pauses in seconds without end, growing from ``first_s`` to ``LONGEST_S``."""
    pause = first_s
    while True:
        yield pause
        pause = min(pause * GROWTH, LONGEST_S)
