"""Model calls as spans: what they tell, and what they tell only if text is wanted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pgs_neo4j.calls.calls import Calls
from pgs_neo4j.config import PGSConfig
from pgs_neo4j.errors import ModelError
from pgs_neo4j.llm.scripted import ScriptedLLM
from pgs_neo4j.model import Completion, Prompt, Usage
from pgs_neo4j.telemetry import names
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


async def ask(made: Calls, llm: Any = None) -> Completion:
    return await made.complete(
        llm or ScriptedLLM(lambda prompt: REPLY), PROMPT, room=99, effort=None
    )


async def test_a_call_tells_its_model_and_its_usage(traced: Traced) -> None:
    reply = await ask(calls())
    (span,) = traced.spans
    assert span.name == "chat scripted"
    assert attributes(span) == {
        names.OPERATION: "chat",
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


async def test_a_stream_is_one_span_that_ends_with_it(traced: Traced) -> None:
    heard: list[str] = []
    llm = ScriptedLLM(lambda prompt: REPLY)
    reply = await calls().stream(llm, PROMPT, heard.append, room=99, effort=None)
    (span,) = traced.spans
    assert attributes(span)[names.OUTPUT_TOKENS] == reply.usage.output_tokens
    assert "".join(heard) == REPLY
    assert "canary" not in traced.text()


@pytest.mark.parametrize("streamed", [False, True])
async def test_text_is_told_if_it_is_wanted(traced: Traced, streamed: bool) -> None:
    made, llm = calls(text=True), ScriptedLLM(lambda prompt: REPLY)
    if streamed:
        await made.stream(llm, PROMPT, lambda piece: None, room=99, effort=None)
    else:
        await ask(made, llm)
    told = attributes(traced.spans[0])
    texts = {
        name: json.loads(told[name])
        for name in (names.SYSTEM_INSTRUCTIONS, names.INPUT_MESSAGES, names.OUTPUT_MESSAGES)
    }
    assert texts[names.SYSTEM_INSTRUCTIONS] == [{"type": "text", "content": "canary-system"}]
    (asked,), (replied,) = texts[names.INPUT_MESSAGES], texts[names.OUTPUT_MESSAGES]
    assert (asked["role"], asked["parts"][0]["content"]) == ("user", "canary-user")
    assert (replied["role"], replied["parts"][0]["content"]) == ("assistant", REPLY)


class Failing:
    """A model whose message holds text of its endpoint."""

    name = "failing"

    async def complete(self, prompt: Prompt, **given: Any) -> Completion:
        raise ModelError("canary of the endpoint; look there")


async def test_a_failure_tells_its_kind_alone(traced: Traced) -> None:
    with pytest.raises(ModelError):
        await ask(calls(), Failing())
    (span,) = traced.spans
    assert attributes(span)[names.ERROR_TYPE] == "ModelError"
    assert names.OUTPUT_TOKENS not in attributes(span)
    assert "canary" not in traced.text()


class CutOff:
    """A model that stops at the limit of its reply."""

    name = "short"

    async def complete(self, prompt: Prompt, **given: Any) -> Completion:
        usage = Usage(calls=1, input_tokens=5, output_tokens=99)
        return Completion(text="cut", usage=usage, model="short-2026", truncated=True)


async def test_a_reply_that_was_cut_says_so(traced: Traced) -> None:
    await ask(calls(), CutOff())
    told = attributes(traced.spans[0])
    assert told[names.FINISH_REASONS] == ("length",)
    assert (told[names.REQUEST_MODEL], told[names.RESPONSE_MODEL]) == ("short", "short-2026")


async def test_without_a_provider_a_reply_is_the_same() -> None:
    heard: list[str] = []
    assert (await ask(calls(text=True))).text == REPLY
    llm = ScriptedLLM(lambda prompt: REPLY)
    reply = await calls(text=True).stream(llm, PROMPT, heard.append, room=99, effort=None)
    assert reply.text == "".join(heard) == REPLY
