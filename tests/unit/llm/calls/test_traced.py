"""Model calls as spans: what they tell, and what they tell only if text is wanted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.scripted import Reply, ScriptedLLM
from pgs_neo4j.model import Completion, Prompt, Usage
from pgs_neo4j.telemetry import names
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
        names.OPERATION: "chat",
        names.PROVIDER: "_OTHER",
        names.REQUEST_MODEL: "scripted",
        names.MAX_TOKENS: 99,
        names.TASK: "sweep",
        names.PARTITION: 3,
        names.RESPONSE_MODEL: reply.model,
        names.INPUT_TOKENS: reply.usage.input_tokens,
        names.OUTPUT_TOKENS: reply.usage.output_tokens,
        names.FINISH_REASONS: ("stop",),
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
        for name in (names.SYSTEM_INSTRUCTIONS, names.INPUT_MESSAGES, names.OUTPUT_MESSAGES)
    }
    assert texts[names.SYSTEM_INSTRUCTIONS] == [{"type": "text", "content": "canary-system"}]
    (asked,), (replied,) = texts[names.INPUT_MESSAGES], texts[names.OUTPUT_MESSAGES]
    assert (asked["role"], asked["parts"][0]["content"]) == ("user", "canary-user")
    assert (replied["role"], replied["parts"][0]["content"]) == ("assistant", REPLY)


async def test_a_call_tells_what_came_from_the_providers_cache(traced: Traced) -> None:
    usage = Usage(
        calls=1, input_tokens=50, output_tokens=9, cache_read_tokens=40, cache_write_tokens=8
    )
    await ask(calls(), Completion(text="whole", usage=usage, model="m"))
    told = attributes(traced.spans[0])
    counts = (names.INPUT_TOKENS, names.CACHE_READ_TOKENS, names.CACHE_WRITE_TOKENS)
    assert [told[name] for name in counts] == [50, 40, 8]


async def test_a_reply_that_was_cut_says_so(traced: Traced) -> None:
    usage = Usage(calls=1, input_tokens=5, output_tokens=99)
    await ask(calls(), Completion(text="cut", usage=usage, model="short-2026", truncated=True))
    told = attributes(traced.spans[0])
    assert told[names.FINISH_REASONS] == ("length",)
    assert (told[names.REQUEST_MODEL], told[names.RESPONSE_MODEL]) == ("scripted", "short-2026")
