"""What is learned of a context, what takes it back, and what is said of a small one."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from pgs_neo4j.config.providers import ProviderName
from pgs_neo4j.llm.context import (
    ASK_AGAIN_S,
    SMALL_CONTEXT,
    Contexts,
    ModelContext,
    advise_context,
    describe_larger_context,
)
from tests.timeless import Clock

SAID = "m takes 4,096 tokens per call, including its reply, so it reads in many short passes"


@pytest.mark.parametrize(
    ("provider", "what"),
    [
        ("llamacpp", "start llama.cpp with: llama-server -c 32768 -np 1"),
        ("lmstudio", "run LM Studio's: lms unload m; lms load m --context-length 32768"),
        ("vllm", "start vLLM with: vllm serve m --max-model-len 32768"),
        ("tgi", "start TGI with: --max-total-tokens 32768 --max-input-tokens 28672"),
        ("ollama", "write a larger context under [models.'m'] in pgs.toml"),
        ("groq", "raise its context to 32768 tokens on its server"),
        (None, "raise its context to 32768 tokens on its server"),
    ],
)
def test_the_advice_can_be_pasted(provider: ProviderName | None, what: str) -> None:
    larger = describe_larger_context(provider, "m")
    said = advise_context(ModelContext(4_096, "server"), "m", larger)
    assert said == f"{SAID}; for fewer passes, {what}"


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


CUT = ModelContext(3_000, "cut", prompt=2_000)
REFUSED = ModelContext(4_096, "refusal", refuses=True)
AS_SERVED = ModelContext(8_192, "server")


@dataclass
class Server:
    """A model whose server says what it takes; ``asked`` counts how often."""

    said: ModelContext | None
    name: str = "m"
    refuses_long_prompts: bool = False
    asked: int = 0

    async def read_context(self) -> ModelContext | None:
        self.asked += 1
        return self.said


@pytest.mark.parametrize(
    ("known", "counted", "risen"),
    [
        (CUT, 2_000, CUT),
        (CUT, 2_500, ModelContext(3_500, "cut", prompt=2_500)),
        (REFUSED, 4_000, REFUSED),
        (REFUSED, 6_000, ModelContext(6_000, "refusal", refuses=True)),
        (AS_SERVED, 9_000, AS_SERVED),
    ],
)
def test_a_longer_prompt_that_was_read_raises_what_was_learned(known, counted, risen):
    contexts = Contexts({}, {"m": known})
    contexts.learn_whole("m", counted)
    assert contexts.of("m") == risen


async def test_a_server_that_says_something_else_is_another_one(clock: Clock):
    contexts, server = Contexts({}), Server(AS_SERVED)
    assert await contexts.ask(server) == AS_SERVED
    contexts.learn_cut("m", 2_000, 500)
    server.said = ModelContext(32_768, "server")
    assert not await contexts.ask_again(server)
    assert server.asked == 1  # no more often than once a minute
    clock.forward(ASK_AGAIN_S)
    assert await contexts.ask_again(server)
    assert contexts.of("m") == server.said


@pytest.mark.parametrize("said", [AS_SERVED, None])
async def test_a_server_that_says_the_same_keeps_its_lessons(clock: Clock, said):
    contexts, server = Contexts({}), Server(AS_SERVED)
    await contexts.ask(server)
    contexts.learn_cut("m", 2_000, 500)
    learned = contexts.of("m")
    server.said = said
    clock.forward(ASK_AGAIN_S)
    assert not await contexts.ask_again(server)
    assert (server.asked, contexts.of("m")) == (2, learned)


async def test_a_server_that_said_nothing_is_asked_again(clock: Clock):
    contexts, server = Contexts({}), Server(None)
    assert await contexts.ask(server) is None
    server.said = AS_SERVED
    clock.forward(ASK_AGAIN_S)
    assert await contexts.ask(server) == AS_SERVED


def test_a_name_in_replies_is_new_once():
    contexts = Contexts({})
    reported = ["m", "m-1", "m-1", "m", "m-2", "m-1", "m-2"]
    assert [contexts.is_new_model("m", one) for one in reported] == [
        *(False, False, False, False),
        *(True, False, False),
    ]
