"""What is said of a context that is small."""

from __future__ import annotations

import pytest

from pgs_neo4j.config.providers import ProviderName
from pgs_neo4j.llm.context import (
    SMALL_CONTEXT,
    ModelContext,
    advise_context,
    describe_larger_context,
)

SAID = "m takes 4,096 tokens a call, its reply included, so it reads in many short passes"


@pytest.mark.parametrize(
    ("provider", "what"),
    [
        ("llamacpp", "start llama.cpp with: llama-server -c 32768 -np 1"),
        ("lmstudio", "run LM Studio's: lms unload m; lms load m --context-length 32768"),
        ("vllm", "start vLLM with: vllm serve m --max-model-len 32768"),
        ("tgi", "start TGI with: --max-total-tokens 32768 --max-input-tokens 28672"),
        ("ollama", "write a larger context under [models.'m'] in pgs.toml"),
        ("groq", "let its server give it 32768 tokens"),
        (None, "let its server give it 32768 tokens"),
    ],
)
def test_the_advice_can_be_pasted(provider: ProviderName | None, what: str) -> None:
    larger = describe_larger_context(provider, "m")
    said = advise_context(ModelContext(4_096, "server"), "m", larger)
    assert said == f"{SAID}; for fewer, {what}"


def test_the_advice_fits_the_slots_and_the_model() -> None:
    larger = describe_larger_context("llamacpp", "m", slots=4)
    assert larger == "start llama.cpp with: llama-server -c 131072 -np 4"
    larger = describe_larger_context("vllm", "m", most=8_192)
    assert larger.endswith("--max-model-len 8192")


def test_a_configured_context_is_changed_where_it_stands() -> None:
    said = advise_context(ModelContext(4_096, "configured"), "m", "start it with: more")
    assert said.endswith("write a larger context under [models.'m'] in pgs.toml")


def test_a_usual_context_needs_no_advice() -> None:
    assert advise_context(ModelContext(SMALL_CONTEXT, "server"), "m", "more") == ""
