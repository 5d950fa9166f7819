"""What the runs of a server add up to, by their events."""

from __future__ import annotations

import pytest

from pgs_neo4j.engine import metrics as figures
from pgs_neo4j.engine.metrics import RunMetrics
from pgs_neo4j.events import Event, PhaseStarted, SweepFinished, UsageCounted
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
    for model, calls, tokens, cost in (("reader", 2, 15, 0.75), ("writer", 1, 100, 2.0)):
        assert value(figures.CALLS, "papers", model) == calls
        assert value(figures.TOKENS, "papers", model, "input") == tokens
        assert value(figures.TOKENS, "papers", model, "output") == 2 * tokens
        assert value(figures.COST, "papers", model) == pytest.approx(cost)
    assert value(figures.CACHED, "papers") == 1
    assert [value(figures.SWEEPS, "papers", end) for end in ("accepted", "failed")] == [1, 1]


def test_input_from_the_providers_cache_is_counted_where_there_is_any() -> None:
    metrics = RunMetrics()
    hear = metrics.listen("papers", lambda event: None)
    known = Usage()
    for cached, stored in ((0, 0), (30, 0), (30, 8)):
        known += Usage(
            calls=1, input_tokens=50, cache_read_tokens=cached, cache_write_tokens=stored
        )
        hear(UsageCounted(known, 1.0, "m"))
    value = metrics.figures.value
    assert value(figures.TOKENS, "papers", "m", "input") == 150
    assert value(figures.CACHE_READ, "papers", "m") == 60
    assert value(figures.CACHE_WRITE, "papers", "m") == 8


def test_two_runs_at_once_add_up_and_a_model_without_a_price_adds_no_cost() -> None:
    metrics = RunMetrics()
    one, other = (metrics.listen("papers", lambda event: None) for _ in range(2))
    one(used(1, 10, 0.5, "m"))
    other(used(1, 7, 0.25, "m"))
    other(used(2, 9, None, "unpriced"))
    one(used(2, 20, 1.0, "m"))
    value = metrics.figures.value
    assert (value(figures.CALLS, "papers", "m"), value(figures.CALLS, "papers", "unpriced")) == (
        3,
        1,
    )
    assert value(figures.COST, "papers", "m") == pytest.approx(1.25)
    assert value(figures.COST, "papers", "unpriced") == 0


def test_the_end_of_a_run_is_counted_and_timed_if_it_began() -> None:
    metrics = RunMetrics()
    metrics.end("papers", "answered", 3.0)
    metrics.end("papers", "cancelled", None)
    assert metrics.figures.value(figures.RUNS, "papers", "answered") == 1
    assert metrics.figures.value(figures.RUNS, "papers", "cancelled") == 1
    spread = metrics.figures.spreads[figures.RUN_SECONDS]["papers",]
    assert (sum(spread.counts), spread.total) == (1, 3.0)
