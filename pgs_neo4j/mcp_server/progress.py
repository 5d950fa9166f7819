"""How far a question is, as one growing number and one line."""

from __future__ import annotations

from dataclasses import dataclass

from pgs_neo4j.events import (
    CallRetried,
    CallsHeld,
    Event,
    PhaseStarted,
    Progressed,
    ReplyGrew,
    Routed,
    RunStarted,
    StepStarted,
    SweepFinished,
)
from pgs_neo4j.text.shown import counted

PHASES = {
    "partition": "partitioning the graph",
    "route": "choosing the partitions to read",
    "sweep": "reading partitions",
    "synthesize": "writing the answer",
    "record": "recording the answer",
    "search": "searching",
}


@dataclass(slots=True)
class Advance:
    """The progress of one question; it takes the engine's events.

    ``number`` counts what was heard. ``value`` grows with each of them, since clients require it,
    and is below the count of partitions read plus one. ``total`` is None until it is known.
    """

    run: str = ""
    number: int = 0
    line: str = "accepted"
    read: int = 0
    routed: int | None = None
    _minor: int = 0

    @property
    def value(self) -> float:
        """The partitions read, plus a fraction that grows with each event in between."""
        return self.read + self._minor / (self._minor + 1)

    @property
    def total(self) -> float | None:
        """The partitions to read and the synthesis, None before they are chosen."""
        return None if self.routed is None else float(max(self.routed, self.read) + 1)

    def hear(self, event: Event) -> None:
        """Take an event of the engine."""
        match event:
            case RunStarted(run, _):
                self.run = run
                self._say(f"run {run} began")
            case Routed(routing):
                self.routed = len(routing.routes)
                self._say(f"{counted(self.routed, 'partition')} to read")
            case SweepFinished(sweep):
                self.read, self._minor = self.read + 1, 0
                self._say(f"P{sweep.partition} {sweep.status}; {self.read} of {self._most()} read")
            case PhaseStarted(phase):
                self._say(PHASES.get(phase, phase))
            case StepStarted(phase, step):
                self._say(f"{PHASES.get(phase, phase)}: {step}")
            case Progressed(_, done, total, what):
                self._say(f"{done:,} of {total:,} {what}" if total else f"{done:,} {what}")
            case ReplyGrew(_, _, int(tokens)) if tokens:
                self._say(f"{counted(tokens, 'token')} of a reply so far")
            case CallRetried(_, _, reason, wait_s) | CallsHeld(reason, wait_s):
                self._say(f"waiting {wait_s:.0f} s: {reason}")

    def _most(self) -> int:
        return max(self.routed or 0, self.read)

    def _say(self, line: str) -> None:
        self.line = line
        self.number += 1
        self._minor += 1
