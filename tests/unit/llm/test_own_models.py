"""What models that people wrote return or raise, as the engine hears it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, cast

import numpy as np
import pytest

from pgs_neo4j.calls.traced import complete_traced, stream_traced
from pgs_neo4j.errors import EmbeddingError, ModelAuthError, ModelError
from pgs_neo4j.llm.embedders.traced import embed_traced
from pgs_neo4j.model import Completion, Prompt, Usage

PROMPT = Prompt(task="sweep", system="s", user="u", question="q")
REPLY = Completion(text="So.", usage=Usage(), model="own")


class Own:
    """A model that does what it is told to; an embedder as well."""

    name = "own"

    def __init__(self, *does: Any) -> None:
        self.does = does

    async def complete(self, prompt: Prompt, **_: Any) -> Any:
        return self._do(self.does[0])

    async def stream(self, prompt: Prompt, **_: Any) -> AsyncGenerator[Any, None]:
        for one in self.does:
            yield self._do(one)

    async def embed(self, texts: Any) -> Any:
        return self._do(self.does[0])

    def _do(self, one: Any) -> Any:
        if isinstance(one, Exception):
            raise one
        return one


async def heard(*does: Any) -> list[object]:
    pieces = stream_traced(cast(Any, Own(*does)), PROMPT, 9, None, text=False)
    async with aclosing(pieces):
        return [piece async for piece in pieces]


@pytest.mark.parametrize(
    ("does", "words"),
    [
        ("text", "returned a value of the type str instead of a Completion"),
        (None, "returned None instead of a Completion"),
        (KeyError("sk-canary"), "failed with KeyError; a model of your own says with a ModelError"),
        (TypeError("sk-canary"), "failed with TypeError"),
    ],
)
async def test_a_reply_of_another_kind_is_a_typed_error(does: Any, words: str) -> None:
    with pytest.raises(ModelError) as failed:
        await complete_traced(cast(Any, Own(does)), PROMPT, 9, None, text=False)
    assert words in str(failed.value)
    assert "canary" not in str(failed.value)
    if not isinstance(does, str):
        with pytest.raises(ModelError):
            await heard(does)


async def test_a_reply_and_a_model_error_pass() -> None:
    assert await complete_traced(cast(Any, Own(REPLY)), PROMPT, 9, None, text=False) is REPLY
    assert await heard("So", ".", REPLY) == ["So", ".", REPLY]
    with pytest.raises(ModelAuthError, match="no key"):
        await complete_traced(cast(Any, Own(ModelAuthError("no key"))), PROMPT, 9, None, text=False)
    with pytest.raises(ModelError, match="of the type int"):
        await heard("So", 5)


async def test_a_stream_that_is_none_is_a_typed_error() -> None:
    class Returning(Own):
        def stream(self, prompt: Prompt, **_: Any) -> Any:
            return ["So", "."]

    pieces = stream_traced(cast(Any, Returning()), PROMPT, 9, None, text=False)
    with pytest.raises(ModelError, match="stream of the model own returned a value of"):
        await anext(pieces)


@pytest.mark.parametrize(
    ("does", "words"),
    [
        ([[1.0]], "a value of the type list"),
        (np.ones(3, dtype=np.float32), r"an array of the shape \(3,\)"),
        (ValueError("canary"), "failed with ValueError"),
    ],
)
async def test_vectors_of_another_form_are_a_typed_error(does: Any, words: str) -> None:
    kind = ModelError if isinstance(does, Exception) else EmbeddingError
    with pytest.raises(kind, match=words):
        await embed_traced(cast(Any, Own(does)), ["one"])
