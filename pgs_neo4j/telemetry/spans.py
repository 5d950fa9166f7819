"""Starts spans, if the program that runs this package has set OpenTelemetry up.

Only the API of OpenTelemetry is used, and never imported on its own account: a program that wants
spans has imported it already, or names a provider in the environment. The names of all spans and
attributes stand here alone, because OpenTelemetry still changes its conventions for models.
"""

from __future__ import annotations

import os
import sys
from asyncio import CancelledError
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from contextvars import Token

    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Tracer, TracerProvider

Value = str | bool | int | float | Sequence[str]
Attributes = Mapping[str, Value | None]

RUN = "pgs.run"
PASS = "pgs.pass"
INGEST = "pgs.ingest"
GDS = "gds"
CHAT = "chat"
EMBEDDINGS = "embeddings"
NEO4J = "neo4j"

GRAPH = "pgs.graph"
RUN_ID = "pgs.run.id"
RESUMED = "pgs.run.resumed"
MODE = "pgs.mode"
QUESTION = "pgs.question"
PARTITION = "pgs.partition"
PASS_NUMBER = "pgs.pass.number"
NODES = "pgs.nodes"
TASK = "pgs.task"
JOB_ID = "pgs.job.id"
DOCUMENTS = "pgs.documents"
ENTITIES = "pgs.entities"
TEXTS = "pgs.texts"

ERROR_TYPE = "error.type"

OPERATION = "gen_ai.operation.name"
REQUEST_MODEL = "gen_ai.request.model"
MAX_TOKENS = "gen_ai.request.max_tokens"
RESPONSE_MODEL = "gen_ai.response.model"
FINISH_REASONS = "gen_ai.response.finish_reasons"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
CACHE_READ_TOKENS = "gen_ai.usage.cache_read.input_tokens"
CACHE_WRITE_TOKENS = "gen_ai.usage.cache_creation.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
SYSTEM_INSTRUCTIONS = "gen_ai.system_instructions"
INPUT_MESSAGES = "gen_ai.input.messages"
OUTPUT_MESSAGES = "gen_ai.output.messages"
PROVIDER = "gen_ai.provider.name"
SERVER_ADDRESS = "server.address"
SERVER_PORT = "server.port"
DIMENSIONS = "gen_ai.embeddings.dimension.count"

DATABASE_SYSTEM = "db.system.name"
DATABASE_NAMESPACE = "db.namespace"
QUERY_SUMMARY = "db.query.summary"

_NAMED = "OTEL_PYTHON_TRACER_PROVIDER" in os.environ
_ENDS = (CancelledError, GeneratorExit)
"""Ways for a block to end that are no errors."""


class SpanNotes(Protocol):
    """A span while its block runs."""

    def __enter__(self) -> SpanNotes:
        """Begin it."""
        ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End it."""
        ...

    def note(self, attributes: Attributes) -> None:
        """Add attributes; None leaves one out."""
        ...


def start_span(
    name: str, attributes: Attributes, *, current: bool = False, client: bool = False
) -> SpanNotes:
    """Return a span to be entered; spans inside a ``current`` one are its children.

    A ``client`` asks another program. A block that fails has the kind of its error in the span, and
    never its message. One that is not ``current`` may end in another task.
    """
    tracer = _tracer()
    return NOTHING if tracer is None else _ActiveSpan(tracer, name, attributes, current, client)


def is_tracing() -> bool:
    """Return whether spans go anywhere."""
    return _tracer() is not None


def phase_name(phase: str) -> str:
    """Return the name of the span of a phase."""
    return f"pgs.{phase}"


def step_name(step: str) -> str:
    """Return the name of the span of a step of an ingestion."""
    return f"{INGEST}.{step}"


def chat_name(model: str) -> str:
    """Return the name of the span of a call."""
    return f"{CHAT} {model}"


def embeddings_name(model: str) -> str:
    """Return the name of the span of a call for vectors."""
    return f"{EMBEDDINGS} {model}"


class _NoSpan:
    """Stands for a span where there is no OpenTelemetry."""

    __slots__ = ()

    def __enter__(self) -> SpanNotes:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def note(self, attributes: Attributes) -> None:
        """Note nothing."""


NOTHING = _NoSpan()


@dataclass(slots=True)
class _ActiveSpan:
    tracer: Tracer
    name: str
    attributes: Attributes
    current: bool
    client: bool
    span: Span | None = None
    token: Token[Context] | None = None

    def __enter__(self) -> SpanNotes:
        from opentelemetry import context, trace

        kind = trace.SpanKind.CLIENT if self.client else trace.SpanKind.INTERNAL
        self.span = self.tracer.start_span(self.name, kind=kind, attributes=_set(self.attributes))
        if self.current:
            self.token = context.attach(trace.set_span_in_context(self.span))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        from opentelemetry import context, trace

        assert self.span is not None
        if error is not None:
            self.note({ERROR_TYPE: type(error).__name__})
            if not isinstance(error, _ENDS):
                self.span.set_status(trace.StatusCode.ERROR)
        self.span.end()
        if self.token is not None:
            context.detach(self.token)

    def note(self, attributes: Attributes) -> None:
        """Add attributes; None leaves one out."""
        if self.span is not None:
            self.span.set_attributes(_set(attributes))


def _set(attributes: Attributes) -> dict[str, Value]:
    return {name: value for name, value in attributes.items() if value is not None}


def _tracer() -> Tracer | None:
    """Return the tracer of the program; None without a provider."""
    provider = _provider()
    if provider is None:
        return None
    from pgs_neo4j import __version__

    return provider.get_tracer("pgs_neo4j", __version__)


def _provider() -> TracerProvider | None:
    if "opentelemetry.trace" not in sys.modules and not _NAMED:
        return None
    try:
        from opentelemetry import trace
    except ModuleNotFoundError:
        return None
    provider = trace.get_tracer_provider()
    idle = trace.ProxyTracerProvider, trace.NoOpTracerProvider
    return None if isinstance(provider, idle) else provider
