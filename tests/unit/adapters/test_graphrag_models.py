"""Models and embedders of neo4j-graphrag as ours, on objects with the methods of its classes."""

from __future__ import annotations

import asyncio
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pgs_neo4j.adapters import GraphRAGEmbedder, GraphRAGModel
from pgs_neo4j.errors import EmbeddingError, ModelError, ModelRateLimitError
from pgs_neo4j.llm.lessons import ToldLessons
from pgs_neo4j.llm.protocol import LLM, Embedder, is_free, shared_pace, take_lessons
from pgs_neo4j.model import Completion, Prompt, Usage

PROMPT = Prompt(task="sweep", system="Be exact.", user="Read this.", question="Why?")


class Model:
    """Notes what it is asked, and replies as given."""

    model_name = "claude"

    def __init__(self, reply: Any) -> None:
        self.reply, self.asked = reply, list[Any]()

    async def ainvoke(self, input: list[Any], **given: Any) -> Any:  # noqa: A002
        self.asked.append((input, given))
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply


def reply(text: str = "It melts.", sent: int | None = 7, received: int | None = 5) -> Any:
    usage = SimpleNamespace(request_tokens=sent, response_tokens=received)
    return SimpleNamespace(content=text, usage=usage)


async def ask(model: Model, room: int = 99, **given: Any) -> Completion:
    return await GraphRAGModel(model, **given).complete(PROMPT, max_tokens=room, effort="low")


async def test_a_prompt_is_two_messages_and_its_reply_streams_as_one_piece() -> None:
    model = GraphRAGModel(Model(reply()))
    assert isinstance(model, LLM)
    assert (is_free(model), shared_pace(model)) == (False, None)
    text, completion = [piece async for piece in model.stream(PROMPT, max_tokens=99)]
    assert text == "It melts."
    assert completion == Completion(
        text="It melts.", usage=Usage(calls=1, input_tokens=7, output_tokens=5), model="claude"
    )


@pytest.mark.parametrize(
    ("name", "given"),
    [("max_tokens", {"max_tokens": 99}), ("max_new", {"max_new": 99}), (None, {})],
)
async def test_a_reply_as_long_as_the_limit_that_its_provider_names_was_cut(
    name: str | None, given: Any
) -> None:
    model = Model(reply(received=99))
    assert (await ask(model, max_tokens_name=name)).truncated is (name is not None)
    said = [{"role": "system", "content": "Be exact."}, {"role": "user", "content": "Read this."}]
    assert model.asked == [(said, given)]
    assert not (await ask(Model(reply(received=98)), max_tokens_name=name)).truncated


@pytest.mark.parametrize("usage", [None, SimpleNamespace(request_tokens=None, response_tokens=3)])
async def test_a_usage_that_is_not_told_is_estimated(usage: Any) -> None:
    completion = await ask(Model(SimpleNamespace(content="It melts.", usage=usage)))
    assert completion.usage.estimated
    assert completion.usage.input_tokens > 0
    assert completion.usage.output_tokens == 3


class LLMGenerationError(Exception):
    """As in neo4j_graphrag.exceptions."""


class RateLimitError(LLMGenerationError):
    """As in neo4j_graphrag.exceptions."""


async def test_errors_are_ours_and_their_text_stays_behind() -> None:
    with pytest.raises(ModelError, match="claude failed") as failed:
        await ask(Model(LLMGenerationError("canary")))
    assert failed.value.retry is not None
    assert failed.value.usage is None
    with pytest.raises(ModelRateLimitError) as refused:
        await ask(Model(RateLimitError("canary")))
    assert refused.value.usage is not None
    assert refused.value.usage.calls == 0
    assert "canary" not in f"{failed.value} {refused.value}"


class InThread:
    """Has the base class's form, which would block the event loop."""

    def __init__(self) -> None:
        self.threads: set[int] = set()

    def embed_query(self, text: str) -> list[float]:
        self.threads.add(threading.get_ident())
        if text == "canary":
            raise LLMGenerationError("canary of the endpoint")
        return [float(len(text)), 0.0] if text != "long" else [1.0, 0.0, 0.0]


class Inherited(InThread):
    """Waits as the base class of neo4j-graphrag does: not at all."""

    async def async_embed_query(self, text: str) -> list[float]:
        self.running = getattr(self, "running", 0) + 1
        self.most = max(getattr(self, "most", 0), self.running)
        await asyncio.sleep(0)
        self.running -= 1
        return self.embed_query(text)


async def test_vectors_are_unit_rows_in_their_order_and_blank_texts_are_zeros() -> None:
    embedder = GraphRAGEmbedder(InThread(), "mine")
    assert isinstance(embedder, Embedder)
    rows = await embedder.embed(["ab", " ", "c"])
    assert rows.tolist() == [[1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]
    assert rows.dtype == np.float32
    assert embedder.dimensions == 2
    assert (await embedder.embed([])).shape == (0, 2)


async def test_what_blocks_runs_in_threads_and_what_waits_does_not() -> None:
    blocking, waiting = InThread(), Inherited()
    await GraphRAGEmbedder(blocking, "a").embed(["x", "y"])
    assert threading.get_ident() not in blocking.threads
    await GraphRAGEmbedder(waiting, "b").embed([str(n) for n in range(1, 50)])
    assert waiting.threads == {threading.get_ident()}
    assert 1 < waiting.most <= 8


async def test_an_embedder_that_fails_or_changes_its_length_is_refused() -> None:
    embedder = GraphRAGEmbedder(InThread(), "mine")
    with pytest.raises(EmbeddingError, match="mine failed") as failed:
        await embedder.embed(["ab", "canary"])
    assert "canary of" not in str(failed.value)
    with pytest.raises(EmbeddingError, match="several lengths"):
        await embedder.embed(["ab", "long"])


async def test_each_run_hears_once_what_was_learned_of_an_embedder() -> None:
    embedder = GraphRAGEmbedder(InThread(), "mine")
    embedder.fit.tell_unproven()
    for told in (ToldLessons(), ToldLessons()):
        (said,) = take_lessons(embedder, told)
        assert said.startswith(
            "the model endpoint behind mine does not show that it reads long texts"
        )
        assert take_lessons(embedder, told) == ()
    assert take_lessons(embedder) == ()  # nobody else waits for it
