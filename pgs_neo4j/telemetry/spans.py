"""Starts spans if the surrounding program has set up OpenTelemetry.

Only OpenTelemetry's API is used. It is imported only if the program has imported it already or
names a provider in the environment, so others do not pay for the import. All names of spans and
attributes are in this module, because OpenTelemetry still changes its conventions for models.
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
GATE = "cypher_gate"
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
"""Whether the environment names a provider of spans."""
_ENDS = (CancelledError, GeneratorExit)
"""Exceptions that end a block without being errors."""


class SpanNotes(Protocol):
    """A span that lasts as long as its block."""

    def __enter__(self) -> SpanNotes:
        """Begin the span."""
        ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the span."""
        ...

    def note(self, attributes: Attributes) -> None:
        """Add attributes, except attributes that are None."""
        ...


def start_span(
    name: str, attributes: Attributes, *, current: bool = False, client: bool = False
) -> SpanNotes:
    """Return a span as a context manager.

    Spans inside a ``current`` span are its children. A span that is not ``current`` may end in
    another task. ``client`` is true for a call to another program. If the block fails, the span
    records the type of the error, but never its message, which may contain text of a graph.
    """
    tracer = _find_tracer()
    return NOTHING if tracer is None else _ActiveSpan(tracer, name, attributes, current, client)


def is_tracing() -> bool:
    """Return whether the program has set up OpenTelemetry, so that spans are recorded."""
    return _find_tracer() is not None


def phase_name(phase: str) -> str:
    """Return the name of the span of a phase of a run."""
    return f"pgs.{phase}"


def step_name(step: str) -> str:
    """Return the name of the span of an ingestion step."""
    return f"{INGEST}.{step}"


def chat_name(model: str) -> str:
    """Return the name of the span of a model call."""
    return f"{CHAT} {model}"


def embeddings_name(model: str) -> str:
    """Return the name of the span of an embedding call."""
    return f"{EMBEDDINGS} {model}"


class _NoSpan:
    """Replaces a span if OpenTelemetry is not set up."""

    __slots__ = ()

    def __enter__(self) -> SpanNotes:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def note(self, attributes: Attributes) -> None:
        """Ignore the attributes."""


NOTHING = _NoSpan()


@dataclass(slots=True)
class _ActiveSpan:
    """A span of OpenTelemetry; an error that leaves the block sets its status."""

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
        self.span = self.tracer.start_span(
            self.name, kind=kind, attributes=_drop_none(self.attributes)
        )
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
        """Add attributes, except attributes that are None."""
        if self.span is not None:
            self.span.set_attributes(_drop_none(attributes))


def _drop_none(attributes: Attributes) -> dict[str, Value]:
    return {name: value for name, value in attributes.items() if value is not None}


def _find_tracer() -> Tracer | None:
    """Return the tracer of the surrounding program; None if it has no provider."""
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
