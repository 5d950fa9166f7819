"""What embedding servers refuse, in their own words, and what they send in place of a vector."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import numpy as np
import pytest

from pgs_neo4j.cli.pages.ingested import notes
from pgs_neo4j.database.connection import Database
from pgs_neo4j.errors import EmbeddingError, ModelOutputError, PromptTooLongError
from pgs_neo4j.llm.embedders.openai import OpenAIEmbedder
from pgs_neo4j.llm.embedders.pieces import divide_text, join_pieces, weigh
from pgs_neo4j.llm.openai.endpoint import Endpoint
from pgs_neo4j.web.jobs import ingested_data
from tests.conftest import Endpoint as Address
from tests.database import fetch
from tests.engines import with_address
from tests.fakes.openai_server import FakeOpenAI, Raw, Recorded, Vectors, vector_of

pytestmark = pytest.mark.usefixtures("no_waits")
SHORT = [f"The slip of batch {number} was cone at 900 degrees near heat." for number in range(154)]
LONG = " ".join(SHORT[:50])
TOKENS = 512
SETTINGS = "sweep|synthesis|effort|max_pass_tokens"


@pytest.fixture
async def embedder(fake: FakeOpenAI) -> AsyncIterator[OpenAIEmbedder]:
    fake.default = Vectors()
    made = OpenAIEmbedder(Endpoint(fake.base_url, None, 60.0), model="m")
    yield made
    await made.close()


def refused(status: int, body: object) -> Raw:
    return Raw(json.dumps(body).encode(), code=status)


def error(message: str, code: str | None = None) -> object:
    return {"error": {"message": message, "type": "invalid_request_error", "code": code}}


def most_texts(most: int, refusal: Raw) -> Callable[[Recorded], Raw | None]:
    return lambda request: refusal if len(request.body["input"]) > most else None


def most_tokens(refusal: Raw) -> Callable[[Recorded], Raw | None]:
    def refuse(request: Recorded) -> Raw | None:
        return refusal if max(map(len, request.body["input"])) // 4 > TOKENS else None

    return refuse


BATCHES = {
    "DashScope": (10, 400, error("Value error, batch size is invalid, it should not be larger than "
                                 "10.: input.contents")),
    "TEI": (32, 413, {"error": "batch size 155 > maximum allowed batch size 32",
                      "error_type": "Validation"}),
    "Cohere": (96, 400, {"message": "total number of texts must be at most 96"}),
    "OpenAI": (50, 400, error("Invalid 'input': array too long. Expected an array with maximum "
                              "length 50.", "array_above_max_length")),
    "Gemini": (100, 400, error("at most 100 requests can be in one batch")),
    "Mistral": (16, 400, {"object": "error", "code": "3210",
                          "message": "Too many inputs in request, split into more batches."}),
}  # fmt: skip


@pytest.mark.parametrize("vendor", BATCHES)
async def test_a_batch_is_made_as_small_as_its_server_wants(fake, embedder, vendor):
    most, status, body = BATCHES[vendor]
    fake.refuse = most_texts(most, refused(status, body))
    assert (await embedder.embed(SHORT)).any(axis=1).all()
    with pytest.raises(PromptTooLongError):  # as ingestion asks, which halves it then
        await embedder.embed_once(SHORT)
    assert (await embedder.embed_once(SHORT[:most])).vectors.any(axis=1).all()


# The encodings that a server refuses, and how.
ENCODINGS = {
    "in words": ("base64", 400, error("encoding_format base64 is not supported")),
    "as FastAPI does": ("base64", 422, {"detail": [
        {"type": "literal_error", "loc": ["body", "encoding_format"], "msg": "Input should be "
         "'float'", "input": "base64"}]}),
    "as a fault": ("base64", 500, error("unsupported encoding_format: base64")),
    "with status 200": ("base64", 200, {"error": {"message": "base64 is unknown", "code": 400}}),
    "the parameter": ("", 400, error("Unrecognized request argument: encoding_format")),
    "the parameter, as FastAPI does": ("", 422, {"detail": [
        {"type": "extra_forbidden", "loc": ["body", "encoding_format"], "msg": "Extra inputs"}]}),
}  # fmt: skip


@pytest.mark.parametrize("how", ENCODINGS)
async def test_an_encoding_that_is_refused_is_not_asked_for_again(fake, embedder, how):
    encoding, status, body = ENCODINGS[how]

    def refuse(request: Recorded) -> Raw | None:
        asked = request.body.get("encoding_format")
        return refused(status, body) if asked and asked.startswith(encoding) else None

    fake.refuse = refuse
    for _ in range(2):
        made = await embedder.embed_once(SHORT[:3])
        assert made.vectors.any(axis=1).all()
        assert made.usage.calls == 1
    assert len(fake.requests) == (3 if encoding else 4)


LENGTHS = {
    "Ollama": (400, error("the input length exceeds the context length")),
    "llama.cpp": (500, error("input (722 tokens) is too large to process. increase the physical "
                             "batch size (current batch size: 512)")),
    "TEI": (422, {"error": "Input validation error: `inputs` must have less than 512 tokens. Given:"
                           " 722", "error_type": "Validation"}),
    "vLLM": (400, {"object": "error", "code": 400, "message": "This model's maximum context length "
                   "is 512 tokens. However, you requested 722 tokens in the input."}),
    "Cohere": (400, {"message": "too many tokens: max tokens per document cannot exceed 512"}),
    "a gateway": (200, error("the input length exceeds the context length")),
}  # fmt: skip


@pytest.mark.parametrize("vendor", LENGTHS)
async def test_one_text_that_is_too_long_costs_one_text(fake, embedder, vendor):
    fake.refuse = most_tokens(refused(*LENGTHS[vendor]))
    for texts in ([*SHORT, LONG], [LONG]):
        with pytest.raises(PromptTooLongError, match=r"a text is longer.*lower chunk_tokens") as no:
            await embedder.embed_once(texts)
    assert not any(word in str(no.value) for word in SETTINGS.split("|"))
    assert (await embedder.embed_once(SHORT)).vectors.any(axis=1).all()


def sent(rows: list[object], tokens: object) -> Raw:
    data = [{"index": place, "embedding": row} for place, row in enumerate(rows)]
    return refused(200, {"data": data, "usage": {"prompt_tokens": tokens}})


Count = Callable[[list[str], list[str]], int]


def tokens_read(_: list[str], read: list[str]) -> int:
    return sum(len(text) // 4 + 2 for text in read)


def tokens_sent(texts: list[str], _: list[str]) -> int:
    return tokens_read([], texts)


def words_read(_: list[str], read: list[str]) -> int:
    return sum(len(text.split()) // 2 for text in read)


NOTHING = {
    "zeros": [0.0, 0.0],
    "zeros in base64": "AAAAAAAAAAA=",
    "not numbers": [float("nan"), 1.0],
    "nulls": [None, None],
    "an empty list": [],
}


@pytest.mark.parametrize("name", NOTHING)
async def test_what_stands_for_nothing_is_no_vector(fake, embedder, name):
    fake.refuse = lambda request: sent(
        [NOTHING[name] if text == LONG else [0.5, 0.5] for text in request.body["input"]], None
    )
    with pytest.raises((EmbeddingError, ModelOutputError)):
        await embedder.embed_once([*SHORT, LONG])
    assert np.allclose((await embedder.embed_once(SHORT)).vectors, np.sqrt(0.5))


def cut_to(most: int, count: Count | None = tokens_read) -> Callable[[Recorded], Raw]:
    """A server that reads so many tokens of a text, as most local ones do, and says nothing."""

    def embed(request: Recorded) -> Raw:
        texts = request.body["input"]
        read = [text[: 4 * most] for text in texts]
        tokens = None if count is None else count(texts, read)
        return sent([[*vector_of(text, 16)] for text in read], tokens)

    return embed


def zero_for(length: int) -> Callable[[Recorded], Raw]:
    return lambda request: sent(
        [[0.0, float(len(text) <= length)] for text in request.body["input"]], None
    )


def vaguely(request: Recorded) -> Raw:
    """A server that counts nothing, and whose vectors hardly differ."""
    return sent(
        [[1.0, 0.01 * (len(text) > 1.05 * len(LONG))] for text in request.body["input"]], None
    )


@pytest.mark.parametrize(
    ("server", "divides"),
    [
        (cut_to(400), True),
        (cut_to(128), True),
        (cut_to(512, words_read), True),
        (cut_to(10**6, words_read), False),
        (cut_to(10**6), False),
    ],
)
async def test_a_gateway_at_the_address_of_a_vendor_is_found_out_by_its_tokens(
    fake: FakeOpenAI, embedder: OpenAIEmbedder, server: Callable[[Recorded], Raw], divides: bool
) -> None:
    """The vendor itself refuses a text that is too long, so none is sent to see whether it cuts.

    A cut that leaves more than the fewest tokens that a text can have shows nowhere.
    """
    embedder.fit.refuses = True
    fake.refuse = server
    for _ in range(2):
        rows = await embedder.embed([*SHORT, LONG])
        pieces = divide_text(LONG, embedder.fit.window or 0)
        assert (len(pieces) > 1) == divides
        vectors = [np.array(vector_of(piece, 16)) for piece in pieces]
        mean = join_pieces([one / np.linalg.norm(one) for one in vectors], [*map(weigh, pieces)])
        assert np.allclose(rows[-1], mean, atol=1e-5)
    requests = len(fake.requests)
    await embedder.embed([*SHORT, LONG])
    assert len(fake.requests) == requests + 1


IN_PIECES = "in pieces, whose vectors are averaged"
ENDPOINTS = {
    # An endpoint, how many of twelve documents, one of them long, get no vector, and why. What is
    # noted of the endpoint.
    "batches of ten": (most_texts(10, refused(*BATCHES["DashScope"][1:])), 0, "", ""),
    "too long": (most_tokens(refused(*LENGTHS["llama.cpp"])), 0, "", IN_PIECES),
    "zeros": (zero_for(1_000), 1, "and not all zeros", ""),
    "cut to 512": (cut_to(512), 0, "", IN_PIECES),
    "cut to 256": (cut_to(256), 0, "", IN_PIECES),
    "cut to 640": (cut_to(640), 0, "", IN_PIECES),
    "whole": (cut_to(10**6), 0, "", ""),
    "cut, and not counted": (cut_to(512, None), 0, "", IN_PIECES),
    "cut, and counted before": (cut_to(512, tokens_sent), 0, "", IN_PIECES),
    "cut to 128": (cut_to(128), 0, "", IN_PIECES),
    "words are counted": (cut_to(10**6, words_read), 0, "", ""),
    "words are counted of what is cut": (cut_to(512, words_read), 0, "", IN_PIECES),
    "nothing shows it": (vaguely, 0, "", "does not show that it reads long texts to their end"),
}


OFTEN = (
    "batches of ten",
    "too long",
    "zeros",
    "cut, and counted before",
    "words are counted",
    "nothing shows it",
)


@pytest.mark.parametrize(
    "name",
    [
        name if name in OFTEN else pytest.param(name, marks=pytest.mark.thorough)
        for name in ENDPOINTS
    ],
)
async def test_an_ingestion_says_which_texts_have_no_vector(
    endpoint: Address, db: Database, fake: FakeOpenAI, tmp_path: Path, name: str
) -> None:
    fake.refuse, without, why, note = ENDPOINTS[name]
    for number, text in enumerate([LONG, *SHORT[:11]]):
        (tmp_path / f"doc{number:02}.md").write_text(f"{text}\n")
    models = {"llm_provider": "extractive", "embedder": "openai", "embedding_model": "m"}
    async with with_address(endpoint, fake.base_url, **models) as pgs:
        done = await pgs.ingest(tmp_path, "docs", embed=True)
    (row,) = await fetch(
        db, "MATCH (c:Chunk) WHERE c.embedding IS NULL RETURN collect(c.text) AS texts"
    )
    assert done.count("added") == 12
    assert len(row["texts"]) == done.unembedded == without
    assert all(LONG[:100] in text for text in row["texts"])
    assert why in done.unembedded_why
    assert done.complete == (not without)
    unproven = name == "nothing shows it"
    assert (done.embedded_unproven, len(done.unembedded_places)) == (unproven, without)
    assert done.embedded > 0
    assert any(note in said for said in done.embedding_notes) == bool(note)
    assert any("1 text;" in said for said in notes(done)) == unproven
    assert {*done.embedding_notes} <= {*ingested_data(done)["notes"]}


async def test_documents_are_divided_by_meaning_in_calls_that_their_server_takes(
    endpoint: Address, db: Database, fake: FakeOpenAI, tmp_path: Path
) -> None:
    refuse, requests = most_texts(10, refused(*BATCHES["DashScope"][1:])), list[bool]()

    def answer(request: Recorded) -> Raw | Vectors:
        requests.append(refuse(request) is not None)
        return refuse(request) or Vectors()

    fake.refuse = answer
    (tmp_path / "long.md").write_text(" ".join(SHORT))
    models = {"llm_provider": "extractive", "embedder": "openai", "embedding_model": "m"}
    sizes = {"chunk_strategy": "semantic", "chunk_tokens": 200}
    async with with_address(endpoint, fake.base_url, **models, **sizes) as pgs:
        done = await pgs.ingest(tmp_path, "docs", embed=True)
    assert done.complete
    assert done.embedded >= 5
    assert sum(requests) <= 12
