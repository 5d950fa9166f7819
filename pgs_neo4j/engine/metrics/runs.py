"""Counts what the runs of a server do, by the events of the engine."""

from __future__ import annotations

from dataclasses import dataclass, field

from pgs_neo4j.engine.metrics import names
from pgs_neo4j.engine.metrics.figures import MetricFigures
from pgs_neo4j.events import Event, OnEvent, SweepFinished, UsageCounted
from pgs_neo4j.model import Usage


@dataclass(slots=True)
class RunMetrics:
    """What the runs of this process have done since it started."""

    figures: MetricFigures = field(default_factory=MetricFigures)

    def listen(self, graph: str, pass_on: OnEvent) -> OnEvent:
        """Return a callback that counts the events of one run, and passes them on."""
        # The events tell what the run has used so far, so only what came since counts.
        known, known_cost = Usage(), 0.0

        def hear(event: Event) -> None:
            nonlocal known, known_cost
            match event:
                case SweepFinished(sweep):
                    self.figures.add(names.SWEEPS, 1, graph, str(sweep.status))
                case UsageCounted(usage, cost, model):
                    cost = known_cost if cost is None else cost
                    self.figures.add(names.CACHED, usage.cached - known.cached, graph)
                    if model is not None:
                        self._count(graph, model, known, usage)
                        self.figures.add(names.COST, cost - known_cost, graph, model)
                    known, known_cost = usage, cost
            pass_on(event)

        return hear

    def end(self, graph: str, state: str, seconds: float | None) -> None:
        """Count a run that ended; ``seconds`` is None for one that never began."""
        self.figures.add(names.RUNS, 1, graph, state)
        if seconds is not None:
            self.figures.observe(names.RUN_SECONDS, seconds, graph)

    def _count(self, graph: str, model: str, known: Usage, usage: Usage) -> None:
        add = self.figures.add
        add(names.CALLS, usage.calls - known.calls, graph, model)
        add(names.TOKENS, usage.input_tokens - known.input_tokens, graph, model, "input")
        add(names.TOKENS, usage.output_tokens - known.output_tokens, graph, model, "output")
        for metric, count in (
            (names.CACHE_READ, usage.cache_read_tokens - known.cache_read_tokens),
            (names.CACHE_WRITE, usage.cache_write_tokens - known.cache_write_tokens),
        ):
            if count:
                add(metric, count, graph, model)
