"""Calls of embedders as spans: they count texts, and never tell them."""

from __future__ import annotations

import pytest

from pgs_neo4j.llm.embedders.traced import embed_once_traced, embed_traced
from pgs_neo4j.telemetry import names
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
        names.OPERATION: "embeddings",
        names.PROVIDER: "_OTHER",
        names.REQUEST_MODEL: "scripted",
        names.TEXTS: 2,
        names.DIMENSIONS: vectors.shape[1],
    }
    assert "canary" not in traced.text()


async def test_what_an_endpoint_counted_is_told(traced: Traced) -> None:
    await embed_once_traced(MeteredEmbedder(), TEXTS)
    (span,) = traced.named(names.embeddings_name("m"))
    assert attributes(span)[names.INPUT_TOKENS] == sum(map(len, TEXTS))
    assert "canary" not in traced.text()
