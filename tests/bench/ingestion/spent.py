"""What a piece of work takes: seconds by the clock, and of processors."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter, process_time

import psutil


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds by the clock, and those of processors in this process and the server.

    Other programs lengthen the former much more than the latter.
    """

    wall: float
    cpu: float

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.wall + other.wall, self.cpu + other.cpu)


@dataclass(slots=True)
class Watch:
    """Measures from its making on. ``server`` is the process of the database, if it takes part."""

    server: int | None = None
    began: Spent = field(init=False)

    def __post_init__(self) -> None:
        self.began = self._now()

    def stop(self, model_s: float) -> Spent:
        """Return what was spent, by the clock without the seconds of the model."""
        now = self._now()
        return Spent(now.wall - self.began.wall - model_s, now.cpu - self.began.cpu)

    def _now(self) -> Spent:
        cpu = process_time()
        if self.server is not None:
            times = psutil.Process(self.server).cpu_times()
            cpu += times.user + times.system
        return Spent(perf_counter(), cpu)
