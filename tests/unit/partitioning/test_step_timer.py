"""Steps are timed and reported as they begin."""

from __future__ import annotations

from contextlib import suppress

import pytest

from pgs_neo4j.events import Event, StepStarted
from pgs_neo4j.partitioning import step_timer
from pgs_neo4j.partitioning.step_timer import StepTimer


class Ticks:
    """A clock that a test moves by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def ticks(monkeypatch: pytest.MonkeyPatch) -> Ticks:
    ticks = Ticks()
    monkeypatch.setattr(step_timer, "perf_counter", ticks)
    return ticks


def test_a_step_is_reported_when_it_begins(ticks: Ticks) -> None:
    events: list[Event] = []
    timer = StepTimer(events.append)
    with timer.step("scan"):
        assert events == [StepStarted("partition", "scan")]
        ticks.now += 2.5
    assert timer.seconds == {"scan": 2.5}
    assert len(events) == 1


def test_steps_add_up_in_the_order_they_first_began_also_when_they_fail(ticks: Ticks) -> None:
    timer = StepTimer(lambda event: None)
    for name, seconds in (("scan", 1.0), ("compare", 4.0), ("scan", 2.0)):
        with suppress(ZeroDivisionError), timer.step(name):
            ticks.now += seconds
            raise ZeroDivisionError
        ticks.now += 10.0
    assert list(timer.seconds.items()) == [("scan", 3.0), ("compare", 4.0)]
    assert timer.elapsed() == 37.0
