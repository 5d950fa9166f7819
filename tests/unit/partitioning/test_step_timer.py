"""Steps are timed and reported as they begin."""

from __future__ import annotations

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


def test_a_repeated_step_adds_up(ticks: Ticks) -> None:
    timer = StepTimer(lambda event: None)
    for seconds in (1.0, 2.0):
        with timer.step("scan"):
            ticks.now += seconds
        ticks.now += 10.0
    assert timer.seconds == {"scan": 3.0}
    assert timer.elapsed() == 23.0


def test_a_failed_step_is_counted(ticks: Ticks) -> None:
    timer = StepTimer(lambda event: None)
    with pytest.raises(ZeroDivisionError), timer.step("write"):
        ticks.now += 4.0
        raise ZeroDivisionError
    assert timer.seconds == {"write": 4.0}


def test_steps_stand_in_the_order_they_first_began(ticks: Ticks) -> None:
    timer = StepTimer(lambda event: None)
    for name in ("scan", "compare", "scan", "flip"):
        with timer.step(name):
            ticks.now += 1.0
    assert list(timer.seconds) == ["scan", "compare", "flip"]
