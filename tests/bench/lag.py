"""Measures how long the event loop keeps a task waiting.

On Linux, the time in which the thread waited for a processor does not count: on a busy machine, it
says nothing about the program.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

import numpy as np

TICK_S = 0.01
MOST_P99_S = 0.1
SCHEDSTAT = Path("/proc/thread-self/schedstat")  # nanoseconds run, nanoseconds waited, slices


@dataclass(frozen=True, slots=True)
class Lag:
    """The delays of a task that wakes a hundred times a second, in seconds."""

    median_s: float
    p99_s: float
    max_s: float


@dataclass(slots=True)
class LagMeter:
    """Collects the delays of a task that only sleeps."""

    delays: list[float] = field(default_factory=list)
    starved_s: Callable[[], float] = field(default_factory=lambda: waited_for_processor)

    async def watch(self) -> None:
        """Collect delays until canceled."""
        while True:
            began, starved = perf_counter(), self.starved_s()
            await asyncio.sleep(TICK_S)
            late = perf_counter() - began - TICK_S
            self.delays.append(max(0.0, late - (self.starved_s() - starved)))

    def lag(self) -> Lag:
        """Return the delays so far; zeros without any."""
        delays = np.array(self.delays or [0.0])
        return Lag(float(np.median(delays)), float(np.quantile(delays, 0.99)), float(delays.max()))


def waited_for_processor() -> float:
    """Return the seconds for which this thread was ready but not run; 0 where unknown."""
    try:
        return int(SCHEDSTAT.read_text().split()[1]) / 1e9
    except OSError:
        return 0.0
