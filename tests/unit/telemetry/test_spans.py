"""Spans: their parents and errors, and nothing at all without OpenTelemetry."""

from __future__ import annotations

import ast
import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

import pgs_neo4j
from pgs_neo4j.engine import metrics as metric_names
from pgs_neo4j.engine.metrics import Metric
from pgs_neo4j.errors import UsageError
from pgs_neo4j.telemetry import spans
from pgs_neo4j.telemetry.spans import NOTHING, is_tracing, start_span
from tests.tracing import Traced, attributes, trace_with

NAMES = {
    name: value for name, value in vars(spans).items() if name.isupper() and isinstance(value, str)
}


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> Traced:
    return trace_with(monkeypatch)


def test_without_a_provider_there_is_nothing() -> None:
    assert not is_tracing()
    with start_span("one", {spans.GRAPH: "papers"}, current=True) as span:
        span.note({spans.RUN_ID: "r1"})
    assert span is NOTHING
    with pytest.raises(UsageError), start_span("one", {}):
        raise UsageError("no; do it otherwise")


@pytest.mark.parametrize(
    ("provider", "tracing"),
    [
        (trace.ProxyTracerProvider(), False),
        (trace.NoOpTracerProvider(), False),
        (TracerProvider(), True),
    ],
)
def test_only_a_provider_that_records_counts(
    monkeypatch: pytest.MonkeyPatch, provider: trace.TracerProvider, tracing: bool
) -> None:
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    assert is_tracing() is tracing


def test_a_current_span_is_the_parent_of_those_inside(traced: Traced) -> None:
    about = {spans.GRAPH: "papers", spans.MODE: None}
    with start_span("outer", {}, current=True), start_span("inner", about, client=True) as span:
        span.note({spans.NODES: 3, spans.QUESTION: None})
        with start_span("beside", {}):
            pass
    inner, beside, outer = (traced.named(name)[0] for name in ("inner", "beside", "outer"))
    assert traced.parent(inner) is traced.parent(beside) is outer
    assert traced.parent(outer) is None
    assert attributes(inner) == {spans.GRAPH: "papers", spans.NODES: 3}
    assert inner.kind is trace.SpanKind.CLIENT
    assert outer.kind is trace.SpanKind.INTERNAL
    assert outer.instrumentation_scope is not None
    assert outer.instrumentation_scope.name == "pgs_neo4j"


async def test_tasks_inside_a_span_are_its_children(traced: Traced) -> None:
    async def work(name: str) -> None:
        with start_span(name, {}, current=True):
            await asyncio.sleep(0)
            with start_span(f"{name} of", {}):
                await asyncio.sleep(0)

    with start_span("outer", {}, current=True):
        await asyncio.gather(work("a"), work("b"))
    (outer,) = traced.named("outer")
    for name in ("a", "b"):
        (span,), (part,) = traced.named(name), traced.named(f"{name} of")
        assert traced.parent(span) is outer
        assert traced.parent(part) is span


def test_an_error_leaves_its_kind_and_not_its_message(traced: Traced) -> None:
    with pytest.raises(UsageError), start_span("failed", {}):
        raise UsageError("canary is wrong; do it otherwise")
    with pytest.raises(asyncio.CancelledError), start_span("ended", {}):
        raise asyncio.CancelledError("canary")
    (failed,), (ended,) = traced.named("failed"), traced.named("ended")
    assert attributes(failed) == {spans.ERROR_TYPE: "UsageError"}
    assert failed.status.status_code is trace.StatusCode.ERROR
    assert ended.status.status_code is trace.StatusCode.UNSET
    assert "canary" not in traced.text()


def run(code: str, **environment: str) -> str:
    start = "import sys\nfrom pgs_neo4j.telemetry.spans import is_tracing, start_span\n"
    done = subprocess.run(
        [sys.executable, "-c", start + code], capture_output=True, text=True, check=True,
        env={"PYTHONPATH": str(Path(pgs_neo4j.__file__).parents[1]), **environment},
    )  # fmt: skip
    return done.stdout.strip()


def test_it_is_not_imported_for_its_own_sake_and_a_provider_may_be_set_later() -> None:
    code = (
        "with start_span('one', {}): pass\n"
        "print(is_tracing(), not [one for one in sys.modules if 'opentelemetry' in one])\n"
        "from opentelemetry import trace\n"
        "print(is_tracing())\n"
        "from opentelemetry.sdk.trace import TracerProvider\n"
        "trace.set_tracer_provider(TracerProvider())\n"
        "print(is_tracing())"
    )
    assert run(code).split() == ["False", "True", "False", "True"]


def test_a_provider_may_be_named_in_the_environment() -> None:
    named = {"OTEL_PYTHON_TRACER_PROVIDER": "sdk_tracer_provider"}
    assert run("print(is_tracing())", **named) == "True"


def test_without_the_package_a_named_provider_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spans, "_NAMED", True)
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    monkeypatch.delitem(sys.modules, "opentelemetry.trace")
    assert not is_tracing()


def test_names_of_spans_and_metrics_stand_in_one_module_each() -> None:
    assert all(re.fullmatch(r"[a-z0-9_.]+", name) for name in NAMES.values())
    dotted = {value for value in NAMES.values() if "." in value}
    assert len(dotted) > 15
    metrics = {one.name for one in vars(metric_names).values() if isinstance(one, Metric)}
    homes = {spans.__file__, metric_names.__file__}
    for path in Path(pgs_neo4j.__file__).parent.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if str(path) in homes or not any(name in text for name in dotted | metrics):
            continue
        constants = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)]
        assert not {node.value for node in constants} & (dotted | metrics), path
