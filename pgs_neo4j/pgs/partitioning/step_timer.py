"""Times the steps of a partitioning and reports each as it begins."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from pgs_neo4j.events import OnEvent, StepStarted


class StepTimer:
    """Seconds per step, in ``seconds``; those of a repeated step add up."""

    def __init__(self, on_event: OnEvent) -> None:
        self.on_event = on_event
        self.seconds: dict[str, float] = {}
        self._began = perf_counter()

    def elapsed(self) -> float:
        """Return the seconds since the timer was created."""
        return perf_counter() - self._began

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Report the start of a step; add its seconds at the end."""
        self.on_event(StepStarted("partition", name))
        began = perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + perf_counter() - began
