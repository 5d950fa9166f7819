"""Calls of embedders as spans: they count texts, and never tell them."""

from __future__ import annotations

import pytest

from pgs_neo4j.llm.tracing import embed_once_traced, embed_traced
from pgs_neo4j.telemetry import spans
from tests.fakes.embedders import MeteredEmbedder, ScriptedEmbedder
from tests.tracing import Traced, attributes, trace_with

TEXTS = ["canary-one", "canary-two"]


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> Traced:
    return trace_with(monkeypatch)


async def test_a_call_tells_its_model_and_its_sizes(traced: Traced) -> None:
    vectors = await embed_traced(ScriptedEmbedder(), TEXTS)
    (span,) = traced.spans
    assert span.name == "embeddings scripted"
    assert attributes(span) == {
        spans.OPERATION: "embeddings",
        spans.PROVIDER: "_OTHER",
        spans.REQUEST_MODEL: "scripted",
        spans.TEXTS: 2,
        spans.DIMENSIONS: vectors.shape[1],
    }
    assert "canary" not in traced.text()


async def test_what_an_endpoint_counted_is_told(traced: Traced) -> None:
    await embed_once_traced(MeteredEmbedder(), TEXTS)
    (span,) = traced.named(spans.embeddings_name("m"))
    assert attributes(span)[spans.INPUT_TOKENS] == sum(map(len, TEXTS))
    assert "canary" not in traced.text()
