"""Seconds per step, told as the steps begin."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from pgs_neo4j.events import OnEvent, StepStarted


class Clock:
    """Times the steps of a partitioning; a step that is done twice adds up."""

    def __init__(self, on_event: OnEvent) -> None:
        self.on_event = on_event
        self.steps: dict[str, float] = {}
        self._began = perf_counter()

    def elapsed(self) -> float:
        """Seconds since the clock was made."""
        return perf_counter() - self._began

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Tell that a step begins, and add its seconds when it ends, well or not."""
        self.on_event(StepStarted("partition", name))
        began = perf_counter()
        try:
            yield
        finally:
            self.steps[name] = self.steps.get(name, 0.0) + perf_counter() - began
