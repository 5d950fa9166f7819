"""Objects that cannot be what they are passed in as are refused in one sentence."""

from __future__ import annotations

from typing import Any

import pytest

from pgs_neo4j.engine.given_parts import EMBEDDER, MODEL, PARTS, check_given
from pgs_neo4j.errors import ConfigError
from pgs_neo4j.llm.embedders.hashing import HashingEmbedder
from pgs_neo4j.llm.extractive import ExtractiveLLM
from pgs_neo4j.llm.scripted import ScriptedLLM


class Whole:
    name = "whole"

    async def complete(self, prompt: Any, *, max_tokens: int, effort: Any = None) -> Any: ...

    async def stream(self, prompt: Any, *, max_tokens: int, effort: Any = None) -> Any:
        yield ""

    async def close(self) -> None: ...


class Half:
    name = "half"

    async def complete(self, prompt: Any, *, max_tokens: int, effort: Any = None) -> Any: ...


class Short(Whole):
    async def complete(self, prompt: Any) -> Any: ...  # type: ignore[override]


class Returning(Whole):
    async def stream(  # type: ignore[override]
        self, prompt: Any, *, max_tokens: int, effort: Any = None
    ) -> str:
        return ""


class Flat(Whole):
    close = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            Half(),
            "has no stream and no close; an LLM has name, complete, stream and close",
        ),
        (object(), "has no name, complete, stream and no close"),
        (Whole, "sweep_llm is the class Whole; pass an object of it, as in Whole()"),
        (
            Short(),
            "as complete(prompt, max_tokens=…, effort=…): got an unexpected",
        ),
        (Returning(), "stream of sweep_llm is a coroutine; let it yield pieces of text"),
        (Flat(), "close of sweep_llm is no method"),
    ],
)
def test_a_model_that_cannot_be_one_is_refused(given: object, words: str) -> None:
    with pytest.raises(ConfigError) as refused:
        check_given("sweep_llm", given, MODEL)
    assert words in str(refused.value)
    assert "class" in words or "pgs help extending" in str(refused.value)


def test_what_is_whole_is_taken() -> None:
    models = (Whole(), ScriptedLLM(lambda _: ""), ExtractiveLLM())
    for model in models:
        check_given("sweep_llm", model, MODEL)
    check_given("embedder", HashingEmbedder(), EMBEDDER)
    assert all(hasattr(model, name) for model in models for name in MODEL.needed)


@pytest.mark.parametrize("kind", PARTS)
def test_a_part_of_an_ingestion_is_looked_at_before_it_is_used(kind: str) -> None:
    with pytest.raises(ConfigError, match=f"{kind} has no signature"):
        check_given(kind, object(), PARTS[kind])
