"""Where a model is served, as spans tell it."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import SecretStr

from pgs_neo4j.llm.embedders.hashing import HashingEmbedder
from pgs_neo4j.llm.openai.chat import OpenAILLM
from pgs_neo4j.llm.openai.endpoint import Endpoint
from pgs_neo4j.llm.scripted import ScriptedLLM
from pgs_neo4j.llm.served_at import provider_attributes
from pgs_neo4j.telemetry import names


@pytest.mark.parametrize(
    ("url", "provider", "told"),
    [
        (None, None, ("openai", "api.openai.com", 443)),
        ("https://api.mistral.ai/v1", None, ("mistral_ai", "api.mistral.ai", 443)),
        ("https://x.openai.azure.com/v1", None, ("azure.ai.openai", "x.openai.azure.com", 443)),
        ("http://127.0.0.1:8000/v1", "vllm", ("vllm", "127.0.0.1", 8000)),
        ("http://127.0.0.1:8000/v1", None, ("openai", "127.0.0.1", 8000)),
        ("http://models.example/v1", None, ("openai", "models.example", 80)),
    ],
)
def test_a_call_tells_its_provider_and_its_host(url: Any, provider: Any, told: Any) -> None:
    model = OpenAILLM("m", Endpoint(url, SecretStr("key-canary"), provider=provider))
    given = provider_attributes(model)
    assert (
        given[names.PROVIDER], given[names.SERVER_ADDRESS], given[names.SERVER_PORT]
    ) == told  # fmt: skip
    assert "canary" not in str(given)


def test_what_runs_here_is_ours_and_what_says_nothing_is_another() -> None:
    for model, provider in (
        (HashingEmbedder(), "pgs_neo4j"), (ScriptedLLM(lambda _: ""), "_OTHER"),
        (object(), "_OTHER"),
    ):  # fmt: skip
        given = provider_attributes(model)
        assert given == {
            names.PROVIDER: provider, names.SERVER_ADDRESS: None, names.SERVER_PORT: None,
        }  # fmt: skip
