"""Keep the state of the progress display, updated by events."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from pgs_neo4j.cli.pages.text import size
from pgs_neo4j.events import (
    CallRetried,
    CallsHeld,
    Event,
    PassFinished,
    Phase,
    PhaseFinished,
    PhaseStarted,
    Progressed,
    ReplyGrew,
    ReplyRejected,
    Routed,
    StepStarted,
    SweepFinished,
    SweepStarted,
    UsageCounted,
)
from pgs_neo4j.export.plan_rows import chosen_line
from pgs_neo4j.model import SweepStatus
from pgs_neo4j.text.shown import counted, one_line, seconds

State = Literal["reading", "read", "partial", "failed"]
STATES: dict[SweepStatus, State] = {
    SweepStatus.ACCEPTED: "read",
    SweepStatus.PARTIAL: "partial",
    SweepStatus.FAILED: "failed",
}
KEYWORDS = 4  # maximum to show per partition


@dataclass(slots=True)
class PhaseRow:
    """A phase: its start on the clock, its seconds (None while it runs), and its progress."""

    began: float
    seconds: float | None = None
    detail: str = ""
    done: int = 0
    total: int = 0


@dataclass(slots=True)
class SweepRow:
    """A partition that is being read or has been read."""

    keywords: tuple[str, ...]
    nodes: int
    passes: int
    done: int = 0
    state: State = "reading"
    waits: str = ""
    waits_until: float = 0.0


@dataclass(slots=True)
class Board:
    """The phases and sweeps so far, in the order in which they began."""

    clock: Callable[[], float] = time.monotonic
    phases: dict[Phase, PhaseRow] = field(default_factory=dict)
    sweeps: dict[int, SweepRow] = field(default_factory=dict)
    unread: set[int] = field(default_factory=set)
    routed: int = 0
    rejected: int = 0
    written: int = 0
    growing: dict[tuple[str, int | None], int] = field(default_factory=dict)
    held_until: float = 0.0

    def take(self, event: Event) -> None:
        """Update the board with one event."""
        match event:
            case PhaseStarted(phase):
                self._end_opening_phases()
                self.phases[phase] = PhaseRow(self.clock())
            case PhaseFinished(phase, took, detail):
                row = self._phase(phase)
                row.seconds, row.total = took, 0
                row.detail = one_line(detail) or self._sweep_detail(phase) or row.detail
            case StepStarted(phase, step):
                row = self._phase(phase)
                row.detail, row.done, row.total = one_line(step), 0, 0
            case Progressed(phase, done, total, what):
                row = self._phase(phase)
                # Work without a known total must not replace countable work that is still running.
                if total or row.done >= row.total:
                    row.detail, row.done, row.total = progress_text(done, total, what), done, total
            case Routed(routing):
                self.routed = len(routing.routes)
                self._phase("route").detail = chosen_line(routing)
            case SweepStarted(partition, nodes, passes, keywords):
                self.sweeps[partition] = SweepRow(keywords, nodes, passes)
            case PassFinished(partition):
                if partition in self.sweeps:
                    self.sweeps[partition].done += 1
            case ReplyRejected():
                self.rejected += 1
            case UsageCounted(usage):
                self.written = usage.output_tokens
            case ReplyGrew(task, partition, tokens):
                self.growing[task, partition] = tokens
            case CallRetried(partition=int(partition), reason=reason, wait_s=wait_s):
                if partition in self.sweeps:
                    self.sweeps[partition].waits = retry_text(reason, wait_s)
                    self.sweeps[partition].waits_until = self.clock() + wait_s
            case CallsHeld(_, wait_s):
                self.held_until = self.clock() + wait_s
            case SweepFinished(sweep):
                if sweep.status is SweepStatus.UNREAD:
                    # There may be hundreds of unread partitions, so they are only counted.
                    self.unread.add(sweep.partition)
                    self.sweeps.pop(sweep.partition, None)
                elif sweep.partition in self.sweeps:
                    self.sweeps[sweep.partition].state = STATES[sweep.status]
            case _:
                pass

    def detail(self, phase: Phase) -> str:
        """Return the detail to display for a phase now."""
        return self._sweep_detail(phase) or self._growing_detail(phase) or self.phases[phase].detail

    def elapsed(self, phase: Phase) -> float:
        """Return the seconds that a phase took, or has been running."""
        row = self.phases[phase]
        return self.clock() - row.began if row.seconds is None else row.seconds

    def _phase(self, phase: Phase) -> PhaseRow:
        return self.phases.setdefault(phase, PhaseRow(self.clock()))

    def _end_opening_phases(self) -> None:
        """End the phases of connecting and loading, because no event marks their end."""
        for name in ("connect", "load"):
            row = self.phases.get(name)
            if row is not None and row.seconds is None:
                row.seconds, row.total = self.clock() - row.began, 0

    def _growing_detail(self, phase: Phase) -> str:
        """Return the length so far of the reply that a phase waits for; empty without one."""
        tokens = sum(self.growing.values())
        if not tokens or self.phases[phase].seconds is not None:
            return ""
        return f"{counted(tokens, 'token')} of the reply so far"

    def _sweep_detail(self, phase: Phase) -> str:
        partitions = self.sweeps.keys() | self.unread
        if phase != "sweep" or not partitions:
            return ""
        states = [row.state for row in self.sweeps.values()]
        ended = sum(state != "reading" for state in states)
        total = max(self.routed, len(partitions))
        failed, unread = states.count("failed"), len(self.unread)
        detail = f"{ended} of {counted(total, 'partition')}"
        detail += f", {failed} failed" if failed else ""
        written = self.written + sum(self.growing.values())
        if ended < total and written:
            detail += f", {counted(written, 'token')} written"
        if self.rejected:
            detail += f", {counted(self.rejected, 'reply', 'replies')} rejected"
        if (held_s := self.held_until - self.clock()) > 0:
            detail += f", waiting {seconds(held_s)} more for the endpoint"
        return f"{detail}, {unread} left unread" if unread else detail


def retry_text(reason: str, wait_s: float) -> str:
    """Return in words why a call is repeated, and when."""
    return f"{reason}, again in {seconds(wait_s)}"


def progress_text(done: int, total: int, what: str) -> str:
    """Return the progress of countable work in words; ``what`` is its unit."""
    if what == "bytes":
        return f"{size(done)} of {size(total)}" if total else size(done)
    if what == "percent":
        return f"{done} %"
    unit = one_line(what, 40)
    return f"{done:,} of {total:,} {unit}" if total else f"{done:,} {unit}"


def keywords_of(keywords: tuple[str, ...]) -> str:
    """Return the first few keywords as one line that is safe to print."""
    return one_line(", ".join(keywords[:KEYWORDS]), 60)
