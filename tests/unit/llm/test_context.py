"""What is said of a context that is small."""

from __future__ import annotations

import pytest

from pgs_neo4j.config.providers import PRESETS, ProviderName
from pgs_neo4j.llm.context import SMALL_CONTEXT, ModelContext, advise_context

SAID = "m takes 4,096 tokens a call, its reply included, so it reads in many short passes"


@pytest.mark.parametrize(
    ("provider", "what"),
    [
        ("llamacpp", "start it with: llama-server -c 32768 -np 1"),
        ("lmstudio", "run: lms load m --context-length 32768"),
        ("vllm", "start it with: vllm serve m --max-model-len 32768"),
        ("tgi", "start it with: --max-total-tokens 32768 --max-input-tokens 28672"),
        ("ollama", "use a model that was trained for more, or a machine with more memory"),
        (None, "let its server give it 32768 tokens"),
    ],
)
def test_the_advice_can_be_pasted(provider: ProviderName | None, what: str) -> None:
    larger = PRESETS[provider].larger_context if provider else ""
    said = advise_context(ModelContext(4_096, "server"), "m", larger)
    assert said == f"{SAID}; for fewer, {what}"


def test_a_configured_context_is_changed_where_it_stands() -> None:
    said = advise_context(ModelContext(4_096, "configured"), "m", "start it with: more")
    assert said.endswith("write a larger context under [models.'m'] in pgs.toml")


def test_a_usual_context_needs_no_advice() -> None:
    assert advise_context(ModelContext(SMALL_CONTEXT, "server"), "m", "more") == ""
