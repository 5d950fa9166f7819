"""Model calls as spans: what they tell, and what they tell only if text is wanted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import SecretStr

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.embedders.hashing import HashingEmbedder
from pgs_neo4j.llm.openai.chat import OpenAILLM
from pgs_neo4j.llm.openai.endpoint import Endpoint
from pgs_neo4j.llm.scripted import Reply, ScriptedLLM
from pgs_neo4j.llm.tracing import embed_once_traced, embed_traced, provider_attributes
from pgs_neo4j.model import Completion, Prompt, Usage
from pgs_neo4j.telemetry import spans
from tests.fakes.embedders import MeteredEmbedder, ScriptedEmbedder
from tests.fakes.tokens import hearing
from tests.tracing import Traced, attributes, trace_with

PROMPT = Prompt(
    task="sweep", system="canary-system", user="canary-user", question="canary-question",
    partition=3,
)  # fmt: skip
REPLY = "canary-reply"


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> Traced:
    return trace_with(monkeypatch)


def calls(*, text: bool = False, **knobs: Any) -> Calls:
    made = Calls.of(PGSConfig(**knobs), {})
    made.traced_text = text
    return made


async def ask(made: Calls, answer: Reply = REPLY) -> Completion:
    llm = ScriptedLLM(lambda prompt: answer)
    return await made.complete(llm, PROMPT, room=99, effort=None)


async def test_a_call_tells_its_model_and_its_usage(traced: Traced) -> None:
    reply = await ask(calls())
    (span,) = traced.spans
    assert span.name == "chat scripted"
    assert attributes(span) == {
        spans.OPERATION: "chat",
        spans.PROVIDER: "_OTHER",
        spans.REQUEST_MODEL: "scripted",
        spans.MAX_TOKENS: 99,
        spans.TASK: "sweep",
        spans.PARTITION: 3,
        spans.RESPONSE_MODEL: reply.model,
        spans.INPUT_TOKENS: reply.usage.input_tokens,
        spans.OUTPUT_TOKENS: reply.usage.output_tokens,
        spans.FINISH_REASONS: ("stop",),
    }
    assert "canary" not in traced.text()


@pytest.mark.parametrize("streamed", [False, True])
async def test_text_is_told_if_it_is_wanted(traced: Traced, streamed: bool) -> None:
    if streamed:
        llm = ScriptedLLM(lambda prompt: REPLY)
        await calls(text=True).stream(llm, PROMPT, hearing([]), room=99, effort=None)
    else:
        await ask(calls(text=True))
    told = attributes(traced.spans[0])
    texts = {
        name: json.loads(told[name])
        for name in (spans.SYSTEM_INSTRUCTIONS, spans.INPUT_MESSAGES, spans.OUTPUT_MESSAGES)
    }
    assert texts[spans.SYSTEM_INSTRUCTIONS] == [{"type": "text", "content": "canary-system"}]
    (asked,), (replied,) = texts[spans.INPUT_MESSAGES], texts[spans.OUTPUT_MESSAGES]
    assert (asked["role"], asked["parts"][0]["content"]) == ("user", "canary-user")
    assert (replied["role"], replied["parts"][0]["content"]) == ("assistant", REPLY)


async def test_a_call_tells_what_came_from_the_providers_cache(traced: Traced) -> None:
    usage = Usage(
        calls=1, input_tokens=50, output_tokens=9, cache_read_tokens=40, cache_write_tokens=8
    )
    await ask(calls(), Completion(text="whole", usage=usage, model="m"))
    told = attributes(traced.spans[0])
    counts = (spans.INPUT_TOKENS, spans.CACHE_READ_TOKENS, spans.CACHE_WRITE_TOKENS)
    assert [told[name] for name in counts] == [50, 40, 8]


async def test_a_reply_that_was_cut_says_so(traced: Traced) -> None:
    usage = Usage(calls=1, input_tokens=5, output_tokens=99)
    await ask(calls(), Completion(text="cut", usage=usage, model="short-2026", truncated=True))
    told = attributes(traced.spans[0])
    assert told[spans.FINISH_REASONS] == ("length",)
    assert (told[spans.REQUEST_MODEL], told[spans.RESPONSE_MODEL]) == ("scripted", "short-2026")


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
        given[spans.PROVIDER], given[spans.SERVER_ADDRESS], given[spans.SERVER_PORT]
    ) == told  # fmt: skip
    assert "canary" not in str(given)


def test_what_runs_here_is_ours_and_what_says_nothing_is_another() -> None:
    for model, provider in (
        (HashingEmbedder(), "pgs_neo4j"), (ScriptedLLM(lambda _: ""), "_OTHER"),
        (object(), "_OTHER"),
    ):  # fmt: skip
        given = provider_attributes(model)
        assert given == {
            spans.PROVIDER: provider, spans.SERVER_ADDRESS: None, spans.SERVER_PORT: None,
        }  # fmt: skip


TEXTS = ["canary-one", "canary-two"]


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
