"""Objects that cannot be what they are passed in as are refused in one sentence."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from functools import partial, wraps
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


class Named(Whole):
    def name(self) -> str:  # type: ignore[override]
        return "x"


class Signed(Whole):
    def signature(self) -> str:
        return "x"


class Priced(Whole):
    def free(self) -> bool:
        return False


class Plain(Whole):
    def complete(self, prompt: Any, *, max_tokens: int, effort: Any = None) -> Any: ...


class Yielding(Whole):
    async def complete(self, prompt: Any, *, max_tokens: int, effort: Any = None) -> Any:
        yield ""


class Closing(Whole):
    def close(self) -> None: ...  # type: ignore[override]


class Failing(Whole):
    @property
    def name(self) -> str:  # type: ignore[override]
        raise ValueError("no name yet")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (Named(), "name of sweep_llm is a method; make it a text that is not empty"),
        (Signed(), "signature of sweep_llm is a method"),
        (Priced(), "free of sweep_llm is a method; make it True or False"),
        (Plain(), "complete of sweep_llm is not a coroutine; write it as 'async def complete'"),
        (Yielding(), "complete of sweep_llm is not a coroutine"),
        (Closing(), "close of sweep_llm is not a coroutine"),
        (Failing(), "name of sweep_llm cannot be read, it failed with ValueError: no name yet"),
        ("gpt-5-mini", "a model is named by sweep_model='gpt-5-mini'"),
    ],
)
def test_values_and_methods_of_another_kind_are_refused_before_a_call(
    given: object, words: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        check_given("sweep_llm", given, MODEL)
    assert words in str(refused.value)


def test_what_passes_a_coroutine_on_is_taken() -> None:
    class Passing(Whole):
        def complete(  # type: ignore[override]
            self, prompt: Any, *, max_tokens: int, effort: Any = None
        ) -> Awaitable[Any]:
            return asyncio.sleep(0, prompt)

    given = Whole()
    bound = given.complete

    @wraps(bound)
    def wrapped(*positional: Any, **named: Any) -> Any:
        return bound(*positional, **named)

    check_given("sweep_llm", Passing(), MODEL)
    for complete in (wrapped, partial(bound)):
        given.complete = complete  # type: ignore[method-assign]
        check_given("sweep_llm", given, MODEL)
        assert given.complete is complete


class Vectors:
    name, dimensions, threshold = "v", 64, None

    async def embed(self, texts: Any) -> Any: ...

    async def close(self) -> None: ...


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"dimensions": 0}, "dimensions of embedder is 0; make it a whole number from 1"),
        ({"dimensions": "64"}, "dimensions of embedder is '64'"),
        ({"threshold": "high"}, "threshold of embedder is 'high'; make it a number, or None"),
        ({"name": ""}, "name of embedder is ''"),
        ({"embed": lambda self, texts: []}, "embed of embedder is not a coroutine"),
    ],
)
def test_an_embedder_of_other_values_is_refused(changed: Any, words: str) -> None:
    check_given("embedder", Vectors(), EMBEDDER)
    with pytest.raises(ConfigError) as refused:
        check_given("embedder", type("Changed", (Vectors,), changed)(), EMBEDDER)
    assert words in str(refused.value)


def test_a_chunker_that_does_not_wait_is_refused_and_a_text_points_to_the_setting() -> None:
    class Plain:
        signature = "p"

        def divide(self, document: Any) -> Any: ...

    class Yielding:
        signature = "y"

        async def divide(self, document: Any) -> Any:
            yield 1

    for given in (Plain(), Yielding()):
        with pytest.raises(ConfigError, match="divide of chunker is not a coroutine"):
            check_given("chunker", given, PARTS["chunker"])
    with pytest.raises(ConfigError, match="chunk_strategy='sentence'"):
        check_given("chunker", "sentence", PARTS["chunker"])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            Half(),
            "has no stream and no close; an LLM has name, complete, stream, and close",
        ),
        (object(), "has no name, no complete, no stream, and no close; an LLM has name, "),
        (Whole, "sweep_llm is the class Whole; pass an object of it, as in Whole()"),
        (
            Short(),
            "as complete(prompt, max_tokens=…, effort=…): got an unexpected",
        ),
        (Returning(), "stream of sweep_llm is a coroutine; yield pieces of text"),
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


class Extracting:
    """An extractor with no more than the manual asks for."""

    signature, schema, free, shares, sure = "e", None, True, False, True

    async def extract(self, chunks: Any) -> Any: ...

    async def forecast(self, chunks: Any) -> Any: ...


@pytest.mark.parametrize("name", ["schema", "free", "shares", "sure"])
def test_an_extractor_without_a_property_is_refused_before_a_call(name: str) -> None:
    check_given("extractor", Extracting(), PARTS["extractor"])
    lacking = {one: getattr(Extracting, one) for one in vars(Extracting) if one != name}
    with pytest.raises(ConfigError, match=f"extractor has no {name}; an extractor has"):
        check_given("extractor", type("Lacking", (), lacking)(), PARTS["extractor"])
    wrong = "a text"
    with pytest.raises(ConfigError, match=f"{name} of extractor is 'a text'; make it"):
        check_given("extractor", type("Odd", (Extracting,), {name: wrong})(), PARTS["extractor"])
