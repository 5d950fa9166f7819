"""Progress as lines on stderr, for logs and pipes."""

from __future__ import annotations

from dataclasses import dataclass, field

from pgs_neo4j.cli import output
from pgs_neo4j.cli.progress.board import Board, again, keywords_of
from pgs_neo4j.events import (
    CallRetried,
    CallsHeld,
    Event,
    PassFinished,
    PhaseFinished,
    Progressed,
    ReplyGrew,
    ReplyRejected,
    Routed,
    RunStarted,
    StepStarted,
    SweepFinished,
    SweepStarted,
    Warned,
)
from pgs_neo4j.model import Sweep, SweepStatus
from pgs_neo4j.text.shown import counted, duration, one_line, seconds, texts_note, unproven_note

PROGRESS_EVERY_S = 5.0
GROWS_EVERY_S = 15.0


@dataclass(slots=True)
class Lines:
    """Writes a line per event.

    Counts appear once per PROGRESS_EVERY_S at most, and growing replies per GROWS_EVERY_S.
    """

    board: Board = field(default_factory=Board)
    _last: float = float("-inf")
    _grew: float = float("-inf")

    def start(self) -> None:
        """Do nothing; there is nothing to prepare."""

    def stop(self) -> None:
        """Do nothing; there is nothing to remove."""

    def __call__(self, event: Event) -> None:
        """Write the line of an event, if it has one."""
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
    """Return an event as one line, or empty; ``board`` already includes it."""
    match event:
        case PhaseFinished("route"):
            return ""  # Routed has said it
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
            return f"{who}: {again(reason, wait_s)}"
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
    # With several passes, each has already reported why it failed.
    reason = f": {why}" if why and sweep.passes <= 1 else ""
    return f"{how}, {amount} ({seconds(sweep.seconds)}){reason}"
