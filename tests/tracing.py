"""Spans for tests to inspect, kept in memory by OpenTelemetry's own SDK."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from pgs_neo4j.telemetry import spans


@dataclass(frozen=True, slots=True)
class Traced:
    """The spans that have ended."""

    exporter: InMemorySpanExporter

    @property
    def spans(self) -> list[ReadableSpan]:
        """All spans, in the order of their ends."""
        return [*self.exporter.get_finished_spans()]

    def named(self, name: str) -> list[ReadableSpan]:
        """Return the spans of a name."""
        return [span for span in self.spans if span.name == name]

    def parent(self, span: ReadableSpan) -> ReadableSpan | None:
        """The span around a span."""
        own = span.parent
        return next((one for one in self.spans if own and one.context.span_id == own.span_id), None)

    def text(self) -> str:
        """Return all texts in all spans."""
        return "\n".join(span.to_json() for span in self.spans)


def trace_with(monkeypatch: pytest.MonkeyPatch) -> Traced:
    """Make the package find a provider. A real one could be set only once in a process."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(spans, "_provider", lambda: provider)
    return Traced(exporter)


def attributes(span: ReadableSpan) -> dict[str, Any]:
    """The attributes of a span."""
    return dict(span.attributes or {})
