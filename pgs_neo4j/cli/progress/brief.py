"""Progress in few lines on stderr: the start, each phase, and what went wrong."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from pgs_neo4j.cli import output
from pgs_neo4j.cli.progress.board import Board
from pgs_neo4j.cli.progress.lines import line
from pgs_neo4j.events import (
    CallRetried,
    Event,
    PassFinished,
    PhaseStarted,
    Progressed,
    ReplyGrew,
    StepStarted,
    SweepFinished,
    SweepStarted,
    UsageCounted,
)
from pgs_neo4j.model import SweepStatus
from pgs_neo4j.text.shown import seconds

FIRST_SIGN_S = 5.0  # without a line: one says what is being done
SIGN_EVERY_S = 30.0  # and then as often as this
TICK_S = 1.0
OPENERS = ("connect", "load")  # phases whose steps are long, and that have no end event


@dataclass(slots=True)
class Brief:
    """Writes a line per phase; says every so often that a long phase still runs."""

    board: Board = field(default_factory=Board)
    pulse: Pulse = field(init=False)

    def __post_init__(self) -> None:
        self.pulse = Pulse(self.board)

    def start(self) -> None:
        """Begin to give signs of life."""
        self.pulse.start()

    def stop(self) -> None:
        """Stop giving signs of life; harmless to repeat."""
        self.pulse.stop()

    def __call__(self, event: Event) -> None:
        """Write the line of an event, if it matters to a log."""
        with self.pulse.lock:
            self.board.take(event)
            text = line(event, self.board) if matters(event) else ""
            if text:
                self.pulse.say(text)


@dataclass(slots=True)
class Pulse:
    """Writes the current work when no other line was written for a while."""

    board: Board
    lock: threading.RLock = field(default_factory=threading.RLock)
    _ended: threading.Event | None = None
    _wait_s: float = FIRST_SIGN_S
    _last: float = 0.0

    def start(self) -> None:
        """Start a thread that watches the time."""
        self._ended, self._last = threading.Event(), self.board.clock()
        threading.Thread(target=self._watch, args=[self._ended], daemon=True).start()

    def stop(self) -> None:
        """End the thread."""
        ended, self._ended = self._ended, None
        if ended is not None:
            ended.set()

    def say(self, text: str) -> None:
        """Write a line; the next sign of life comes a while later."""
        self._wait_s, self._last = FIRST_SIGN_S, self.board.clock()
        output.say(text)

    def beat(self) -> None:
        """Write the current work if no line was written for a while."""
        with self.lock:
            if self.board.clock() - self._last < self._wait_s:
                return
            self.say(still(self.board))
            self._wait_s = SIGN_EVERY_S

    def _watch(self, ended: threading.Event) -> None:
        while not ended.wait(TICK_S):
            self.beat()


def matters(event: Event) -> bool:
    """Whether a log without details has a line for an event."""
    match event:
        case StepStarted(phase):
            return phase in OPENERS
        case PassFinished(error=error):
            return error is not None
        case SweepFinished(sweep):
            return sweep.status in (SweepStatus.FAILED, SweepStatus.PARTIAL)
        case CallRetried() | PhaseStarted() | Progressed() | ReplyGrew():
            return False
        case SweepStarted() | UsageCounted():
            return False
        case _:
            return True


def still(board: Board) -> str:
    """Return the current work in a line: ``sweep: 3 of 15 partitions (42 s so far)``."""
    running = [phase for phase, row in board.phases.items() if row.seconds is None]
    if not running:
        return "connect: waiting for the database"
    phase = running[-1]
    detail = board.detail(phase) or "at work"
    return f"{phase}: {detail} ({seconds(board.elapsed(phase))} so far)"
