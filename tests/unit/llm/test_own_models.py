"""What models that people wrote return or raise, as the engine hears it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, cast

import numpy as np
import pytest

from pgs_neo4j.errors import (
    EmbeddingError,
    ModelAuthError,
    ModelError,
    ModelOutputError,
    ModelTimeoutError,
)
from pgs_neo4j.llm.own_models import (
    await_extractions,
    await_forecast,
    checked_description,
    describe_fault,
)
from pgs_neo4j.llm.tracing import complete_traced, embed_traced, stream_traced
from pgs_neo4j.model import Completion, Prompt, Usage
from pgs_neo4j.model.documents import ExtractedEntity, ExtractedRelation, Extraction
from pgs_neo4j.model.ingest import ExtractionForecast

PROMPT = Prompt(task="sweep", system="s", user="u", question="q")
REPLY = Completion(text="So.", usage=Usage(), model="own")


class Own:
    """A model that does what it is told to; an embedder as well."""

    name = "own"
    dimensions: int | None = None

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
        (KeyError("sk-canary"), "failed with KeyError: '***; raise a ModelError to say it"),
        (TypeError("no text\nsk-canary"), "failed with TypeError: no text; raise"),
        (TypeError(), "failed with TypeError; raise"),
        (
            Completion(text="x", usage=cast(Any, None), model="own"),
            "returned a Completion whose usage is None; give it a value of the type Usage",
        ),
        (Completion(text=cast(Any, b"x"), usage=Usage(), model="own"), "whose text is a value of"),
        (
            Completion(text="x", usage=Usage(input_tokens=cast(Any, 1.5)), model="own"),
            "with usage.input_tokens=1.5; give it a whole number from 0",
        ),
        (Completion(text="x", usage=Usage(), model="own", counted=-1), "with counted=-1"),
    ],
)
async def test_a_reply_of_another_kind_is_a_typed_error(does: Any, words: str) -> None:
    with pytest.raises(ModelError) as failed:
        await complete_traced(cast(Any, Own(does)), PROMPT, 9, None, text=False)
    assert words in str(failed.value)
    assert "canary" not in str(failed.value)
    if isinstance(does, Exception):
        assert failed.value.__cause__ is does
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
        (np.ones((2, 3), dtype=np.float32), "returned 2 rows for 1 text"),
        (np.ones((1, 32), dtype=np.float32), "32 numbers a text, but its dimensions says 64"),
        (np.ones((1, 64), dtype=np.int64), "returned an array of int64; return float32"),
        (ValueError("gone"), "the embedder own failed with ValueError: gone"),
    ],
)
async def test_vectors_of_another_form_are_a_typed_error(does: Any, words: str) -> None:
    own = Own(does)
    own.dimensions = 64
    with pytest.raises(ModelError, match=words) as failed:
        await embed_traced(cast(Any, own), ["one"])
    assert isinstance(failed.value, EmbeddingError) == ("rows for" in words)  # halves are tried


async def test_a_method_that_does_not_wait_is_a_typed_error() -> None:
    class Plain(Own):
        def complete(self, prompt: Prompt, **_: Any) -> Any:  # type: ignore[override]
            return REPLY

        def embed(self, texts: Any) -> Any:  # type: ignore[override]
            return np.ones((1, 4), dtype=np.float32)

    with pytest.raises(ModelError, match="complete of the model own is not a coroutine"):
        await complete_traced(cast(Any, Plain()), PROMPT, 9, None, text=False)
    with pytest.raises(ModelError, match="embed of own is not a coroutine"):
        await embed_traced(cast(Any, Plain()), ["one"])


async def test_a_time_limit_of_the_model_is_not_that_of_the_caller() -> None:
    """TimeoutError is raised by sockets; that of the caller cancels."""
    with pytest.raises(ModelTimeoutError, match="failed with TimeoutError: timed out"):
        await complete_traced(
            cast(Any, Own(TimeoutError("timed out"))), PROMPT, 9, None, text=False
        )
    with pytest.raises(ModelTimeoutError, match="failed with TimeoutError"):
        await heard("So", TimeoutError())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("my server said no\nmore", "my server said no"),
        ("at https://me:hunter22@host/x?key=abc&n=1", "at https://***@host/x?***&***"),
        ("api_key='abcdef' refused", "***' refused"),
        ("wrong token 'abcdef' sent", "wrong ***' sent"),
        ("Incorrect API key provided: abcdef.", "Incorrect ***"),
        ("Authorization: Bearer abc.def", "***"),
        ("got 0123456789abcdef0123456789abcdef", "got ***"),
        ("a\x1b[31mb", "ab"),
        ("w " * 400, "w " * 99 + "w…"),
    ],
)
def test_the_first_line_of_a_fault_is_shown_without_secrets(text: str, shown: str) -> None:
    assert describe_fault(ValueError(text)) == f"ValueError: {shown}"


def test_a_fault_whose_text_fails_is_named_by_its_kind() -> None:
    class OddError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert describe_fault(OddError()) == "OddError"


def two(one: Extraction) -> list[Extraction]:
    return [Extraction(), one]


def entities(*values: Any) -> list[Extraction]:
    return two(Extraction(entities=values))


def entity(**values: Any) -> ExtractedEntity:
    return ExtractedEntity(**{"name": "Oslo", "type": "Place"} | values)


def relations(**values: Any) -> list[Extraction]:
    ends = {"source": "Oslo", "target": "Norway"}
    return two(Extraction(relations=(ExtractedRelation(**ends | values),)))


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (None, "returned None; return a list with an Extraction for each chunk, here 2"),
        ([Extraction()], "returned 1 of them"),
        ([Extraction(), "Oslo"], "returned a list with a value of the type str"),
        (KeyError("chunk"), "the extractor Mine failed with KeyError: 'chunk'"),
        (entities("Oslo"), "whose entities contain a value of the type str; make each an Extracte"),
        (entities(None), "whose entities contain None; make each an ExtractedEntity"),
        (entities(entity(name=None)), "an ExtractedEntity whose name is None; make it a text"),
        (entities(entity(name=" ")), "whose name is ' '; make it a text that is not empty"),
        (entities(entity(type=["Place"])), "whose type is ['Place']; make it a text"),
        (entities(entity(sentences=1)), "whose sentences is 1; make it a tuple of whole numbers"),
        (entities(entity(sentences=("1",))), "whose sentences is ('1',); make it a tuple of w"),
        (two(Extraction(entities=cast(Any, {"Oslo": "Place"}))), "whose entities is {'Oslo': 'Pl"),
        (two(Extraction(dropped=cast(Any, None))), "an Extraction whose dropped is None"),
        (two(Extraction(proven=cast(Any, 1))), "an Extraction whose proven is 1; make it True"),
        (relations(weight=float("nan")), "an ExtractedRelation whose weight is nan; make it a"),
        (relations(keywords="lives in"), "whose keywords is 'lives in'; make it a tuple of te"),
        (relations(target=""), "an ExtractedRelation whose target is ''; make it a text that"),
    ],
)
async def test_an_extractor_returns_an_extraction_for_each_chunk(
    returned: object, said: str
) -> None:
    async def extract() -> object:
        if isinstance(returned, Exception):
            raise returned
        return returned

    with pytest.raises(ModelError) as caught:
        await await_extractions("Mine", extract(), 2)
    assert said in str(caught.value)
    with pytest.raises(ModelError, match="extract of the extractor Mine is not a coroutine"):
        await await_extractions("Mine", [], 0)
    assert await await_extractions("Mine", _returned([Extraction()]), 1) == [Extraction()]
    fine = Extraction(
        [entity(sentences=[np.int64(1)])],  # type: ignore[arg-type]
        (ExtractedRelation(source="Oslo", target="Norway", keywords=("in",), weight=2),),
    )
    assert await await_extractions("Mine", _returned([fine]), 1) == [fine]


async def test_an_extractor_forecasts_calls() -> None:
    none = ExtractionForecast()
    assert await await_forecast("Mine", _returned(none)) == none
    for given, kind in ((_returned(None), "None"), ([], "a value of the type list")):
        with pytest.raises(ModelError, match=rf"forecast\(\) of extractor Mine returned {kind}"):
            await await_forecast("Mine", given)


def test_a_description_is_a_text_that_is_not_empty() -> None:
    assert checked_description("Mine", "A town.", "Oslo") == "A town."
    with pytest.raises(ModelError, match=r"describe\(\) of describer Mine returned None"):
        checked_description("Mine", None, "Oslo")
    with pytest.raises(ModelOutputError, match="an empty text; return a description of Oslo"):
        checked_description("Mine", " ", "Oslo")


async def _returned(value: object) -> object:
    return value
