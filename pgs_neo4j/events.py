"""The engine's progress events, one frozen dataclass each.

The CLI, callbacks, and servers read the same events. The engine calls an event callback in its own
task, so the callback must return quickly. ``kind`` is an event's name wherever it is serialized,
and it never changes; ``export.event_data`` converts an event to plain data.
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
    """A run has a record from now on.

    It can be resumed by its id, no matter how it ends.
    """

    kind: ClassVar[str] = "run_started"
    run: str
    resumed: bool


@dataclass(frozen=True, slots=True)
class ContextsKnown:
    """The context lengths of a run's models became known, or turned out to be different.

    ``contexts`` are pairs of a model's name and a phrase. The phrase gives the context length in
    tokens and where it is known from, or says that it is unknown.
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
    """One pass over a partition ended, or one part of a pass that was divided.

    ``error`` says why its report was not accepted; None if it was. ``usage`` and ``cost`` cover all
    calls of the pass since its previous event, including failed calls; ``cost`` is None without
    prices. If a limit ends a pass, the pass has no event of this kind; only the event ``usage``
    counts its calls.
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
    """The report in the model's reply to a pass was not accepted.

    ``reason`` says why, without text of the reply; ``pgs runs replies`` shows that text. The model
    may be asked again, or the pass divided; ``pass_finished`` says how the pass ended.
    """

    kind: ClassVar[str] = "reply_rejected"
    partition: int
    number: int
    passes: int
    reason: str


@dataclass(frozen=True, slots=True)
class ReplyGrew:
    """A model is writing a reply; ``tokens`` estimates its length so far, thinking included.

    The event comes at most every two seconds, and only from Ollama servers, which send replies in
    pieces. When the call has ended, a last event has 0 ``tokens``, and the event ``usage`` counts
    the tokens. ``partition`` is None unless the ``task`` is ``sweep``.
    """

    kind: ClassVar[str] = "reply_grew"
    task: Task
    partition: int | None
    tokens: int


@dataclass(frozen=True, slots=True)
class CallRetried:
    """A model call failed, and is made again after ``wait_s`` seconds.

    ``partition`` is the partition being read; None unless the ``task`` is ``sweep``. ``reason``
    says why in a few words.
    """

    kind: ClassVar[str] = "call_retried"
    task: Task
    partition: int | None
    reason: str
    wait_s: float


@dataclass(frozen=True, slots=True)
class CallsHeld:
    """No model call is made for ``wait_s`` seconds.

    ``reason`` says who requested the wait. Only waits over 10 s are reported.
    """

    kind: ClassVar[str] = "calls_held"
    reason: str
    wait_s: float


@dataclass(frozen=True, slots=True)
class UsageCounted:
    """A model call ended, or a stored reply took its place.

    ``usage`` and ``cost`` cover the whole run so far; ``cost`` is None without prices. ``model``
    names the model that was called, None for a stored reply.
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

    ``absences`` counts the checked absences, ``contradicted`` counts absences that the nodes read
    contradict, ``flags`` counts the flags that were followed up, and ``convergences`` counts the
    convergences found.
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
    """A layered search has answered from its ``top_k`` nodes; the sweeps come next."""

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
