"""Records what happens during a run, and reports it as events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

from pgs_neo4j.events import (
    ContextsKnown,
    OnEvent,
    Phase,
    PhaseFinished,
    PhaseStarted,
    Warned,
)
from pgs_neo4j.telemetry.spans import phase_name, start_span


@dataclass(slots=True)
class RunLog:
    """The warnings of a run, the seconds of its phases, and its models' context lengths.

    ``contexts`` maps a model's name to a phrase about its context length. Only methods of this
    class change the fields.
    """

    on_event: OnEvent
    seconds: dict[str, float] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    contexts: dict[str, str] = field(default_factory=dict)

    @contextmanager
    def phase(self, phase: Phase) -> Iterator[None]:
        """Time a phase, and report its beginning and end."""
        self.on_event(PhaseStarted(phase))
        began = perf_counter()
        with start_span(phase_name(phase), {}, current=True):
            yield
        self.note_seconds(phase, perf_counter() - began)
        self.on_event(PhaseFinished(phase, self.seconds[phase]))

    def note_seconds(self, phase: Phase, seconds: float) -> None:
        """Record the seconds of a phase that reports its own events."""
        self.seconds[phase] = seconds

    def note_contexts(self, contexts: Iterable[tuple[str, str]]) -> None:
        """Record the context lengths of models, and report all of them if one has changed."""
        before = dict(self.contexts)
        self.contexts.update(contexts)
        if self.contexts != before:
            self.on_event(ContextsKnown(tuple(self.contexts.items())))

    def warn(self, message: str) -> None:
        """Record and report a warning; ignore an empty one."""
        if message:
            self.warnings.append(message)
            self.on_event(Warned(message))
