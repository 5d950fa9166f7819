"""What the engine tells while it works: one frozen dataclass per event.

The CLI, callbacks, and later the page read the same events. An event callback is called
in the engine's own task and must return quickly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pgs_neo4j.model import Routing, Sweep

Phase = Literal["connect", "load", "search", "partition", "route", "sweep", "synthesize", "record"]


@dataclass(frozen=True, slots=True)
class PhaseStarted:
    """A phase began."""

    phase: Phase


@dataclass(frozen=True, slots=True)
class PhaseFinished:
    """A phase ended; ``seconds`` of wall time, ``detail`` one line for people."""

    phase: Phase
    seconds: float
    detail: str = ""


@dataclass(frozen=True, slots=True)
class StepStarted:
    """A step inside a phase began, e.g. ``communities`` inside ``partition``."""

    phase: Phase
    step: str


@dataclass(frozen=True, slots=True)
class Progressed:
    """Countable work moved on; ``total`` is 0 while unknown. Units: ``what``."""

    phase: Phase
    done: int
    total: int
    what: str


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run is recorded from here on; whatever ends it early, it can be resumed by its id."""

    run: str
    resumed: bool


@dataclass(frozen=True, slots=True)
class Routed:
    """The partitions to be swept are chosen."""

    routing: Routing


@dataclass(frozen=True, slots=True)
class SweepStarted:
    """The reading of a partition began."""

    partition: int
    nodes: int
    passes: int
    keywords: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PassFinished:
    """One pass over a partition came back, accepted or not (``error`` says why not)."""

    partition: int
    number: int
    passes: int
    error: str | None


@dataclass(frozen=True, slots=True)
class SweepFinished:
    """The reading of a partition ended, well or not."""

    sweep: Sweep


@dataclass(frozen=True, slots=True)
class TextStreamed:
    """A piece of the answer arrived."""

    text: str


@dataclass(frozen=True, slots=True)
class SearchAnswered:
    """Layered search: the top-k answer is there, before the partitions are swept."""

    text: str


@dataclass(frozen=True, slots=True)
class Warned:
    """Something is not as expected and the run goes on; one sentence."""

    message: str


Event = (
    PhaseStarted
    | PhaseFinished
    | StepStarted
    | Progressed
    | RunStarted
    | Routed
    | SweepStarted
    | PassFinished
    | SweepFinished
    | TextStreamed
    | SearchAnswered
    | Warned
)
OnEvent = Callable[[Event], None]


def ignore(event: Event) -> None:
    """The callback of those who do not listen."""
