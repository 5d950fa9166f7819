"""The engine's progress events, one frozen dataclass each.

The CLI, callbacks, and servers read the same events. The engine calls an event callback in its own
task, so the callback must return quickly. ``kind`` names an event in serial forms and never
changes; ``export.event_data`` makes plain data of an event.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from pgs_neo4j.model import Routing, Sweep, Task, Usage

Phase = Literal[
    "connect",
    "load",
    "search",
    "partition",
    "route",
    "sweep",
    "synthesize",
    "record",
    "analogies",
    "ingest",
]


@dataclass(frozen=True, slots=True)
class PhaseStarted:
    """A phase began."""

    kind: ClassVar[str] = "phase_started"
    phase: Phase


@dataclass(frozen=True, slots=True)
class PhaseFinished:
    """A phase ended after ``seconds`` of wall time.

    ``detail`` is one line for people.
    """

    kind: ClassVar[str] = "phase_finished"
    phase: Phase
    seconds: float
    detail: str = ""


@dataclass(frozen=True, slots=True)
class StepStarted:
    """A step of a phase began, for example ``communities`` of ``partition``."""

    kind: ClassVar[str] = "step_started"
    phase: Phase
    step: str


@dataclass(frozen=True, slots=True)
class Progressed:
    """Countable work advanced: ``done`` of ``total`` units.

    ``total`` is 0 while it is unknown. ``what`` names the unit, for example "nodes written".
    """

    kind: ClassVar[str] = "progressed"
    phase: Phase
    done: int
    total: int
    what: str


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run began to be recorded.

    However it ends, it can be resumed by its id.
    """

    kind: ClassVar[str] = "run_started"
    run: str
    resumed: bool


@dataclass(frozen=True, slots=True)
class ContextsKnown:
    """What the models of a run can take is known, or turned out to be something else.

    ``contexts`` are the tokens of each model by its name, and where they are known from, in words;
    those of others are said to be unknown.
    """

    kind: ClassVar[str] = "contexts"
    contexts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Routed:
    """The partitions to sweep were chosen."""

    kind: ClassVar[str] = "routed"
    routing: Routing


@dataclass(frozen=True, slots=True)
class SweepStarted:
    """The sweep of a partition began."""

    kind: ClassVar[str] = "sweep_started"
    partition: int
    nodes: int
    passes: int
    keywords: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PassFinished:
    """One pass over a partition ended, or a part of one whose report was too long.

    ``error`` says why its report was not accepted; None if it was. ``usage`` and ``cost`` are those
    of all its calls since the previous event of the same pass, failed ones included; the cost is
    None without prices. A pass that a limit ends has no event: only ``usage`` counts its calls.
    """

    kind: ClassVar[str] = "pass_finished"
    partition: int
    number: int
    passes: int
    error: str | None
    usage: Usage = field(default_factory=Usage)
    cost: float | None = 0.0


@dataclass(frozen=True, slots=True)
class ReplyRejected:
    """A reply of the model to a pass arrived, and its report was not accepted.

    ``reason`` says why, without text of the reply, which ``pgs runs replies`` shows. The pass may
    be asked again, or divided; ``pass_finished`` says how it ended.
    """

    kind: ClassVar[str] = "reply_rejected"
    partition: int
    number: int
    passes: int
    reason: str


@dataclass(frozen=True, slots=True)
class ReplyGrew:
    """A model is writing a reply, which has about so many tokens so far, thinking included.

    It is heard every two seconds at most, from servers of Ollama, which send replies in pieces.
    Once the call has ended, ``tokens`` is 0, and ``usage`` counts them. ``partition`` is None for a
    call with another ``task`` than to sweep.
    """

    kind: ClassVar[str] = "reply_grew"
    task: Task
    partition: int | None
    tokens: int


@dataclass(frozen=True, slots=True)
class CallRetried:
    """A model call failed, and is made again after ``wait_s`` seconds.

    ``partition`` is the one being read; None for a call with another ``task``. ``reason`` is a few
    words.
    """

    kind: ClassVar[str] = "call_retried"
    task: Task
    partition: int | None
    reason: str
    wait_s: float


@dataclass(frozen=True, slots=True)
class CallsHeld:
    """No model call is made for ``wait_s`` seconds.

    ``reason`` says who wants it. Only waits over 10 s are reported.
    """

    kind: ClassVar[str] = "calls_held"
    reason: str
    wait_s: float


@dataclass(frozen=True, slots=True)
class UsageCounted:
    """A model call ended, or a stored reply took its place.

    ``usage`` and ``cost`` are those of the whole run so far; the cost is None without prices.
    ``model`` is the one that was called, None for a stored reply.
    """

    kind: ClassVar[str] = "usage"
    usage: Usage
    cost: float | None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class SweepFinished:
    """The sweep of a partition ended, successfully or not."""

    kind: ClassVar[str] = "sweep_finished"
    sweep: Sweep


@dataclass(frozen=True, slots=True)
class ReportsChecked:
    """The reports were compared with each other and with everything read.

    The figures count checked absences, absences that something read contradicts, followed-up flags,
    and convergences.
    """

    kind: ClassVar[str] = "checked"
    absences: int
    contradicted: int
    flags: int
    convergences: int


@dataclass(frozen=True, slots=True)
class TextStreamed:
    """A piece of the answer arrived."""

    kind: ClassVar[str] = "text_streamed"
    text: str


@dataclass(frozen=True, slots=True)
class SearchAnswered:
    """A layered search has its top-k answer; sweeping comes next."""

    kind: ClassVar[str] = "search_answered"
    text: str


@dataclass(frozen=True, slots=True)
class Warned:
    """Something unexpected happened, and the run continues.

    ``message`` is one sentence.
    """

    kind: ClassVar[str] = "warned"
    message: str


Event = (
    PhaseStarted
    | PhaseFinished
    | StepStarted
    | Progressed
    | RunStarted
    | ContextsKnown
    | Routed
    | SweepStarted
    | PassFinished
    | ReplyRejected
    | ReplyGrew
    | CallRetried
    | CallsHeld
    | UsageCounted
    | SweepFinished
    | ReportsChecked
    | TextStreamed
    | SearchAnswered
    | Warned
)
OnEvent = Callable[[Event], None]


def ignore(event: Event) -> None:
    """Ignore an event; the default callback."""
