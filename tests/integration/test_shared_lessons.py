"""What an endpoint refuses is learned once by all who ask for a model there, and told once."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import SecretStr

from pgs_neo4j.database.connection import Database
from pgs_neo4j.llm.anthropic.chat import AnthropicLLM
from pgs_neo4j.llm.ollama.chat import OllamaLLM
from pgs_neo4j.llm.openai.chat import OpenAILLM
from pgs_neo4j.llm.openai.endpoint import Endpoint
from pgs_neo4j.model import Prompt
from tests.engines import with_model
from tests.fakes.anthropic_server import KEY, FakeAnthropic, Served
from tests.fakes.ollama import FakeOllama
from tests.fakes.openai_server import (
    Answer,
    FakeOpenAI,
    Recorded,
    Scripted,
    Status,
    contract_answer,
)
from tests.graphs import papers

PROMPT = Prompt(task="synthesis", system="think", user="about it", question="about it")
Reader = OpenAILLM | AnthropicLLM | OllamaLLM


@dataclass(frozen=True)
class Place:
    """An endpoint that refuses an effort; ``count`` are the requests it got."""

    kind: Callable[..., Reader]
    url: str
    key: str
    count: Callable[[], int]

    def reader(self, name: str = "m", key: str = "", **options: Any) -> Reader:
        return self.kind(name, Endpoint(self.url, SecretStr(key or self.key), 60.0), **options)


def refuse_effort(request: Recorded) -> Scripted | None:
    """Refuse an effort as Azure does."""
    refused = "reasoning_effort" in request.body
    said = "Unrecognized request argument supplied: reasoning_effort"
    return Status(400, message=said) if refused else None


@asynccontextmanager
async def serving(wire: str) -> AsyncIterator[Place]:
    if wire == "anthropic":
        async with FakeAnthropic() as served:
            served.models = {"m": Served(effort=False), "n": Served(effort=False)}
            yield Place(AnthropicLLM, served.base_url, KEY, lambda: len(served.chats))
        return
    with FakeOpenAI(default=Answer("A thesis.")) as fake:
        if wire == "openai":
            fake.refuse = refuse_effort
            yield Place(OpenAILLM, fake.base_url, "k", lambda: len(fake.chats))
            return
        # It does not say whether the model thinks.
        ollama = FakeOllama("m", answer=lambda _: "A thesis.")

        def silent(request: Recorded) -> Scripted | None:
            return None if request.path.endswith("/show") else ollama(request)

        ollama.put_before(fake)
        fake.refuse = silent
        fake.default = Status(404)
        yield Place(OllamaLLM, fake.base_url, "k", lambda: len(ollama.bodies))


async def ask(reader: Reader) -> None:
    await reader.complete(PROMPT, max_tokens=2_000, effort="high")


@pytest.mark.parametrize("wire", ["openai", "anthropic", "ollama"])
async def test_another_model_object_at_an_endpoint_pays_no_refusal(wire: str) -> None:
    async with serving(wire) as place:
        first = place.reader()
        await ask(first)
        refused = place.count() - 1
        assert refused > 0
        second = place.reader("shown as", served_as="m")
        await ask(second)
        assert place.count() == refused + 2
        told = first.take_lessons() + second.take_lessons()
        assert len(told) == len(set(told)) == refused
        assert first.take_lessons() == ()
        # Another model has this one's name now; what is told again would be noise.
        second.forget_lessons()
        await ask(first)
        assert place.count() == 2 * refused + 3
        assert first.take_lessons() + second.take_lessons() == ()
        for reader in (first, second):
            await reader.close()


@pytest.mark.parametrize("other", [{"name": "n"}, {"key": "another"}])
async def test_another_model_or_account_learns_for_itself(other: dict[str, str]) -> None:
    async with serving("openai") as place:
        readers = [place.reader(), place.reader(**other)]
        for reader in readers:
            await ask(reader)
            await reader.close()
        assert place.count() == 4


async def test_lessons_live_as_long_as_a_model_that_has_them() -> None:
    async with serving("openai") as place:
        for _ in range(2):
            reader = place.reader()
            await ask(reader)
            await reader.close()
            del reader
            gc.collect()
        assert place.count() == 4


async def test_a_lesson_that_has_become_wrong_is_learned_anew() -> None:
    """A server was restarted with another program, which wants the other name of the limit."""
    limits = ["max_tokens"]

    def refuse(request: Recorded) -> Scripted | None:
        name = limits[-1]
        said = f"Unsupported parameter: '{name}' is not supported with this model."
        return Status(400, message=said, param=name) if name in request.body else None

    with FakeOpenAI(default=Answer("A thesis.")) as fake:
        fake.refuse = refuse
        reader = OpenAILLM("m", Endpoint(fake.base_url, SecretStr("k"), 60.0))
        for limit in ("max_tokens", "max_completion_tokens", "max_tokens"):
            limits.append(limit)
            for _ in range(2):
                await ask(reader)
        assert len(fake.chats) == 9
        await reader.close()


async def test_ollama_loads_one_context_for_all_who_ask_for_a_model() -> None:
    """Each other context would load the model again."""
    with FakeOpenAI() as fake:
        served = FakeOllama("m", answer=lambda _: "A thesis.").put_before(fake)
        readers = [OllamaLLM("m", Endpoint(fake.base_url)) for _ in range(2)]
        await readers[0].complete(PROMPT, max_tokens=9_000)
        await readers[1].complete(PROMPT, max_tokens=9)
        for reader in readers:
            await reader.close()
    assert served.contexts == [16_384, 16_384]


@pytest.mark.usefixtures("no_waits")
async def test_two_names_of_one_model_share_what_is_learned_and_each_run_is_told_once(
    endpoint: Any, db: Database
) -> None:
    names = {"models": {"reader": {"model": "one"}, "writer": {"model": "one"}}}
    with FakeOpenAI(default=Answer(contract_answer)) as fake:
        refusals: list[Recorded] = []

        def refuse(request: Recorded) -> Scripted | None:
            refused = refuse_effort(request)
            refusals.extend([request] if refused else [])
            return refused

        fake.refuse = refuse
        mapping = await papers(db, 1, 12)
        async with with_model(endpoint, fake, sweep_effort="low", **names) as pgs:
            await pgs.graphs.add("papers", mapping)
            answers = [
                await pgs.execute("Why?", full_sweep=True, cache=False, session_id=session)
                for session in ("one", "two")
            ]
    assert len(refusals) == 1
    for answer in answers:  # the second run goes without an effort as well, and says so
        assert answer.synthesis.complete
        assert sum("refuses reasoning_effort" in text for text in answer.warnings) == 1
