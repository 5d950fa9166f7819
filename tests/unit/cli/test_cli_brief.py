"""Progress in few lines, and a sign of life in long phases."""

from __future__ import annotations

import pytest

from pgs_neo4j.cli.progress import brief
from pgs_neo4j.cli.progress.board import Board
from pgs_neo4j.cli.progress.brief import Brief
from pgs_neo4j.events import (
    Event,
    PassFinished,
    PhaseFinished,
    PhaseStarted,
    Progressed,
    Routed,
    RunStarted,
    StepStarted,
    SweepFinished,
    SweepStarted,
    Warned,
)
from pgs_neo4j.model import Route, Routing, Sweep, SweepStatus


class Clock:
    """A clock that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def swept(partition: int, status: SweepStatus = SweepStatus.ACCEPTED) -> SweepFinished:
    return SweepFinished(Sweep(partition=partition, status=status, nodes=30, passes=1))


ROUTING = Routing(
    routes=(Route(partition=4, similarity=0.5, reason="x"),), considered=11, best_similarity=0.5
)
RUN: tuple[Event, ...] = (
    StepStarted("connect", "start the local server"),
    PhaseStarted("partition"),
    StepStarted("partition", "scan"),
    Progressed("partition", 5, 5, "nodes scanned"),
    PhaseFinished("partition", 1.0, "11 partitions of 586 nodes"),
    RunStarted("r1", resumed=False),
    Routed(ROUTING),
    PhaseFinished("route", 0.1),
    PhaseStarted("sweep"),
    SweepStarted(4, 30, 1, ("task",)),
    PassFinished(4, 1, 2, None),
    swept(4),
    swept(9, SweepStatus.UNREAD),
    PhaseFinished("sweep", 2.0),
    Warned("mind"),
    PhaseFinished("synthesize", 1.0),
)


def test_a_run_is_told_in_a_line_per_phase(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Brief(Board(Clock()))
    for event in RUN:
        lines(event)
    assert capsys.readouterr().err.splitlines() == [
        "connect: start the local server",
        "partition: 11 partitions of 586 nodes (1.0 s)",
        "run: r1 begins",
        "route: 1 of 11 partitions: P4",
        "sweep: 1 of 2 partitions, 1 left unread (2.0 s)",
        "note: mind",
        "synthesize: done (1.0 s)",
    ]


def test_what_goes_wrong_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Brief(Board(Clock()))
    for event in (PassFinished(4, 1, 2, "cut off"), swept(4, SweepStatus.FAILED)):
        lines(event)
    assert capsys.readouterr().err.splitlines() == [
        "sweep: P4 pass 1 of 2 failed: cut off",
        "sweep: P4 failed, 0 of 30 nodes (0.0 s)",
    ]


def test_a_long_phase_gives_signs_of_life_that_grow_rare(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = Clock()
    lines = Brief(Board(clock))
    lines(PhaseStarted("sweep"))
    told = []
    for second in range(100):
        clock.now = float(second)
        lines.pulse.beat()
        if capsys.readouterr().err:
            told.append(second)
    assert told == [5, 35, 65, 95]


def test_a_sign_of_life_says_what_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    lines = Brief(Board(clock))
    clock.now = 11.0
    lines.pulse.beat()
    assert capsys.readouterr().err == "connect: waiting for the database\n"
    for event in (PhaseStarted("sweep"), SweepStarted(4, 30, 1, ())):
        lines(event)
    clock.now = 53.0
    lines.pulse.beat()
    assert capsys.readouterr().err == "sweep: 0 of 1 partition (42 s so far)\n"


def test_the_pulse_beats_by_itself_and_stops(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(brief, "SIGN_EVERY_S", 1e9)
    monkeypatch.setattr(brief, "TICK_S", 0.01)
    lines = Brief()
    lines.pulse._wait_s = 0.0
    lines.start()
    waiting = lines.pulse._ended
    assert waiting is not None
    waiting.wait(0.5)
    lines.stop()
    lines.stop()
    assert waiting.is_set()
    assert capsys.readouterr().err == "connect: waiting for the database\n"
