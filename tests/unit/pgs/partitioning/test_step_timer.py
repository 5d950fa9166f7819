"""Steps are timed and reported as they begin."""

from __future__ import annotations

from contextlib import suppress

import pytest

from pgs_neo4j.events import Event, StepStarted
from pgs_neo4j.pgs.partitioning import order
from pgs_neo4j.pgs.partitioning.order import StepTimer


def test_steps_are_reported_as_they_begin_and_add_up_also_when_they_fail(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    monkeypatch.setattr(order, "perf_counter", lambda: now)
    events: list[Event] = []
    timer = StepTimer(events.append)
    for name, seconds in (("scan", 1.0), ("compare", 4.0), ("scan", 2.0)):
        with suppress(ZeroDivisionError), timer.step(name):
            assert events[-1] == StepStarted("partition", name)
            now += seconds
            raise ZeroDivisionError
        now += 10.0
    assert list(timer.seconds.items()) == [("scan", 3.0), ("compare", 4.0)]
    assert timer.elapsed() == 37.0
    assert len(events) == 3
