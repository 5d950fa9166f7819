"""What the runs of a server add up to, by their events."""

from __future__ import annotations

import pytest

from pgs_neo4j.events import Event, PhaseStarted, SweepFinished, UsageCounted
from pgs_neo4j.metrics import names
from pgs_neo4j.metrics.runs import RunMetrics
from pgs_neo4j.model import Sweep, SweepStatus, Usage


def a_sweep(status: SweepStatus) -> Sweep:
    return Sweep(partition=1, status=status, nodes=3, generation="g1")


def used(calls: int, tokens: int, cost: float | None, model: str | None, cached: int = 0) -> Event:
    usage = Usage(calls=calls, input_tokens=tokens, output_tokens=2 * tokens, cached=cached)
    return UsageCounted(usage, cost, model)


def test_totals_of_a_run_are_counted_once_and_events_are_passed_on() -> None:
    metrics, told = RunMetrics(), list[Event]()
    hear = metrics.listen("papers", told.append)
    events = [
        PhaseStarted("sweep"),
        used(1, 10, 0.5, "reader"),
        used(2, 15, 0.75, "reader"),
        used(2, 15, 0.75, None, cached=1),
        used(3, 115, 2.75, "writer", cached=1),
        SweepFinished(a_sweep(SweepStatus.ACCEPTED)),
        SweepFinished(a_sweep(SweepStatus.FAILED)),
    ]
    for event in events:
        hear(event)
    assert told == events
    value = metrics.figures.value
    assert value(names.CALLS, "papers", "reader") == 2
    assert value(names.CALLS, "papers", "writer") == 1
    assert value(names.TOKENS, "papers", "reader", "input") == 15
    assert value(names.TOKENS, "papers", "reader", "output") == 30
    assert value(names.TOKENS, "papers", "writer", "input") == 100
    assert value(names.COST, "papers", "reader") == pytest.approx(0.75)
    assert value(names.COST, "papers", "writer") == pytest.approx(2.0)
    assert value(names.CACHED, "papers") == 1
    assert value(names.SWEEPS, "papers", "accepted") == 1
    assert value(names.SWEEPS, "papers", "failed") == 1


def test_two_runs_at_once_add_up() -> None:
    metrics = RunMetrics()
    one, other = (metrics.listen("papers", lambda event: None) for _ in range(2))
    one(used(1, 10, 0.5, "m"))
    other(used(1, 7, 0.25, "m"))
    one(used(2, 20, 1.0, "m"))
    assert metrics.figures.value(names.CALLS, "papers", "m") == 3
    assert metrics.figures.value(names.COST, "papers", "m") == pytest.approx(1.25)


def test_a_model_without_a_price_adds_no_cost() -> None:
    metrics = RunMetrics()
    hear = metrics.listen("papers", lambda event: None)
    hear(used(1, 10, 0.5, "priced"))
    hear(used(2, 20, None, "unpriced"))
    assert metrics.figures.value(names.COST, "papers", "priced") == 0.5
    assert metrics.figures.value(names.COST, "papers", "unpriced") == 0
    assert metrics.figures.value(names.CALLS, "papers", "unpriced") == 1


def test_the_end_of_a_run_is_counted_and_timed_if_it_began() -> None:
    metrics = RunMetrics()
    metrics.end("papers", "answered", 3.0)
    metrics.end("papers", "cancelled", None)
    assert metrics.figures.value(names.RUNS, "papers", "answered") == 1
    assert metrics.figures.value(names.RUNS, "papers", "cancelled") == 1
    spread = metrics.figures.spreads[names.RUN_SECONDS]["papers",]
    assert (sum(spread.counts), spread.total) == (1, 3.0)
