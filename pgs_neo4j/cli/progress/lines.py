"""Print progress as lines on stderr, for logs and pipes.

``Lines`` prints a line for every event. ``Brief`` prints the start, each phase, and problems, and
reports at intervals that a long phase is still running.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from pgs_neo4j.cli import output
from pgs_neo4j.cli.progress.board import Board, keywords_of, retry_text
from pgs_neo4j.events import (
    CallRetried,
    CallsHeld,
    Event,
    PassFinished,
    PhaseFinished,
    PhaseStarted,
    Progressed,
    ReplyGrew,
    ReplyRejected,
    Routed,
    RunStarted,
    StepStarted,
    SweepFinished,
    SweepStarted,
    UsageCounted,
    Warned,
)
from pgs_neo4j.model import Sweep, SweepStatus
from pgs_neo4j.text.shown import counted, duration, one_line, seconds, texts_note, unproven_note

PROGRESS_EVERY_S = 5.0
GROWS_EVERY_S = 15.0
FIRST_SIGN_S = 5.0  # silence before a line reports the current work
SIGN_EVERY_S = 30.0  # silence between one report and the next
TICK_S = 1.0
OPENING_PHASES = ("connect", "load")  # phases with long steps and without an end event


@dataclass(slots=True)
class Lines:
    """Prints a line per event.

    Counts appear at most once in PROGRESS_EVERY_S seconds, and growing replies at most once in
    GROWS_EVERY_S seconds.
    """

    board: Board = field(default_factory=Board)
    _last: float = float("-inf")
    _grew: float = float("-inf")

    def start(self) -> None:
        """Do nothing; there is nothing to prepare."""

    def stop(self) -> None:
        """Do nothing; there is nothing to remove."""

    def __call__(self, event: Event) -> None:
        """Print the line of an event, if it has one."""
        self.board.take(event)
        if isinstance(event, Progressed):
            now = self.board.clock()
            if event.done != event.total and now - self._last < PROGRESS_EVERY_S:
                return
            self._last = now
        if isinstance(event, ReplyGrew) and event.tokens:
            now = self.board.clock()
            if now - self._grew < GROWS_EVERY_S:
                return
            self._grew = now
        text = line(event, self.board)
        if text:
            output.say(text)


def line(event: Event, board: Board) -> str:
    """Return the line for an event, empty if it has none; ``board`` already includes the event."""
    match event:
        case PhaseFinished("route"):
            return ""  # the Routed event already has a line
        case PhaseFinished(phase, took):
            return f"{phase}: {board.detail(phase) or 'done'} ({seconds(took)})"
        case StepStarted(phase, step):
            return f"{phase}: {one_line(step)}"
        case Progressed(phase):
            return f"{phase}: {board.detail(phase)}"
        case RunStarted(run, resumed):
            return f"run: {run} {'resumes' if resumed else 'begins'}"
        case Routed(routing):
            named = ", ".join(f"P{route.partition}" for route in routing.routes[:20])
            warned = routing.fallback or routing.unmatched
            note = f" ({one_line(routing.note)})" if routing.note and not warned else ""
            return f"route: {board.detail('route')}: {named}{note}"
        case SweepStarted(partition, nodes, passes, keywords):
            work = f"{counted(nodes, 'node')} in {counted(passes, 'pass', 'passes')}"
            return f"sweep: P{partition} begins, {work} ({keywords_of(keywords)})"
        case PassFinished(partition, number, passes, error) if passes > 1:
            how = "read" if error is None else f"failed: {one_line(error)}"
            return f"sweep: P{partition} pass {number} of {passes} {how}"
        case ReplyRejected(partition, number, passes, reason):
            at = f" pass {number} of {passes}" if passes > 1 else ""
            return f"sweep: P{partition}{at} reply rejected: {one_line(reason)}"
        case ReplyGrew(task, partition, int(tokens)) if tokens:
            who = task if partition is None else f"sweep: P{partition}"
            return f"{who}: {counted(tokens, 'token')} of the reply so far"
        case CallRetried(task, partition, reason, wait_s):
            who = task if partition is None else f"sweep: P{partition}"
            return f"{who}: {retry_text(reason, wait_s)}"
        case CallsHeld(reason, wait_s):
            return f"note: {one_line(reason)}; the next call goes out in {duration(wait_s)}"
        case SweepFinished(sweep):
            return f"sweep: P{sweep.partition} {_ended(sweep)}"
        case Warned(message):
            return f"note: {one_line(message)}"
        case _:
            return ""


def _ended(sweep: Sweep) -> str:
    why = one_line("; ".join(dict.fromkeys(sweep.errors)))
    if sweep.status is SweepStatus.UNREAD:
        return f"left unread: {why}"
    how = "read" if sweep.status is SweepStatus.ACCEPTED else str(sweep.status)
    amount = f"{sweep.nodes_read:,} of {counted(sweep.nodes, 'node')}"
    amount += texts_note(sweep.nodes_read, sweep.texts_read)
    amount += unproven_note(sweep.nodes_unproven)
    # With several passes, each failed pass has already had a line with its reason.
    reason = f": {why}" if why and sweep.passes <= 1 else ""
    return f"{how}, {amount} ({seconds(sweep.seconds)}){reason}"


@dataclass(slots=True)
class Brief:
    """Prints a line per phase, and reports at intervals that a long phase is still running."""

    board: Board = field(default_factory=Board)
    pulse: Pulse = field(init=False)

    def __post_init__(self) -> None:
        self.pulse = Pulse(self.board)

    def start(self) -> None:
        """Start the periodic reports of the current work."""
        self.pulse.start()

    def stop(self) -> None:
        """Stop the periodic reports; harmless to repeat."""
        self.pulse.stop()

    def __call__(self, event: Event) -> None:
        """Print the line of an event, if the event belongs in a log without details."""
        with self.pulse.lock:
            self.board.take(event)
            text = line(event, self.board) if matters(event) else ""
            if text:
                self.pulse.say(text)


@dataclass(slots=True)
class Pulse:
    """Prints the current work if no line was printed for a while."""

    board: Board
    lock: threading.RLock = field(default_factory=threading.RLock)
    _ended: threading.Event | None = None
    _wait_s: float = FIRST_SIGN_S
    _last: float = 0.0

    def start(self) -> None:
        """Start a thread that checks the time since the last line every TICK_S seconds."""
        self._ended, self._last = threading.Event(), self.board.clock()
        threading.Thread(target=self._watch, args=[self._ended], daemon=True).start()

    def stop(self) -> None:
        """End the thread."""
        ended, self._ended = self._ended, None
        if ended is not None:
            ended.set()

    def say(self, text: str) -> None:
        """Print a line, which delays the next report of the current work."""
        self._wait_s, self._last = FIRST_SIGN_S, self.board.clock()
        output.say(text)

    def beat(self) -> None:
        """Print the current work if no line was printed for a while."""
        with self.lock:
            if self.board.clock() - self._last < self._wait_s:
                return
            self.say(current_work_line(self.board))
            self._wait_s = SIGN_EVERY_S

    def _watch(self, ended: threading.Event) -> None:
        while not ended.wait(TICK_S):
            self.beat()


def matters(event: Event) -> bool:
    """Return whether an event gets a line in a log without details."""
    match event:
        case StepStarted(phase):
            return phase in OPENING_PHASES
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


def current_work_line(board: Board) -> str:
    """Return a line on the current work: ``sweep: 3 of 15 partitions (42 s so far)``."""
    running = [phase for phase, row in board.phases.items() if row.seconds is None]
    if not running:
        return "connect: waiting for the database"
    phase = running[-1]
    detail = board.detail(phase) or "at work"
    return f"{phase}: {detail} ({seconds(board.elapsed(phase))} so far)"
