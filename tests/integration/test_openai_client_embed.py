"""OpenAIEmbedder against a fake endpoint on loopback."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import numpy as np
import pytest

from pgs_neo4j.errors import (
    EmbeddingError,
    ModelAuthError,
    ModelOutputError,
    ModelUnavailableError,
    PromptCutError,
    PromptTooLongError,
)
from pgs_neo4j.llm.embedders import fitting as batches
from pgs_neo4j.llm.embedders import openai
from pgs_neo4j.llm.embedders.openai import OpenAIEmbedder
from pgs_neo4j.llm.embedders.pieces import divide_text, join_pieces, weigh
from pgs_neo4j.llm.openai.endpoint import Endpoint
from pgs_neo4j.llm.protocol import Embedder, Metered
from pgs_neo4j.model import GraphMapping, Usage
from pgs_neo4j.search.space import Space, embed_question
from tests.fakes.database import FakeDatabase
from tests.fakes.openai_server import (
    Decide,
    FakeOpenAI,
    Raw,
    Recorded,
    Status,
    Vectors,
    vector_of,
)

pytestmark = pytest.mark.usefixtures("no_waits")


@pytest.fixture
def fake(fake: FakeOpenAI) -> FakeOpenAI:
    fake.default = Vectors()
    return fake


@pytest.fixture
async def embedder(fake: FakeOpenAI) -> AsyncIterator[OpenAIEmbedder]:
    made = OpenAIEmbedder(Endpoint(fake.base_url, None, 60.0), model="embed-m")
    yield made
    await made.close()


def unit(text: str, dimensions: int = 8) -> np.ndarray:
    vector = np.array(vector_of(text, dimensions))
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize("as_lists", [False, True])
async def test_rows_are_unit_and_in_the_order_of_texts(
    fake: FakeOpenAI, embedder: OpenAIEmbedder, as_lists: bool
) -> None:
    assert isinstance(embedder, Embedder)
    assert embedder.dimensions is None
    fake.default = Vectors(as_lists=as_lists)
    rows = await embedder.embed(["one", "two", "three"])
    assert rows.dtype == np.float32
    assert np.allclose(rows, [unit("one"), unit("two"), unit("three")], atol=1e-5)
    assert embedder.dimensions == 8


async def test_many_texts_go_in_bounded_batches_and_come_back_in_order(
    fake: FakeOpenAI, embedder: OpenAIEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder.fit.refuses = True  # so that nothing is sent to see whether it is cut
    await embedder.embed(["ü" * 400_000] * 30)
    sizes = [[len(text.encode()) for text in r.body["input"]] for r in fake.requests]
    assert max(size for batch in sizes for size in batch) <= 3.5 * openai.INPUT_TOKENS
    assert all(sum(batch) <= 3.5 * batches.BATCH_TOKENS for batch in sizes)
    assert sum(map(sum, sizes)) == 30 * 800_000
    fake.requests.clear()
    monkeypatch.setattr(batches, "BATCH_INPUTS", 3)
    texts = [f"text {i}" for i in range(10)]
    rows = await embedder.embed(texts)
    assert sorted(len(r.body["input"]) for r in fake.requests) == [1, 3, 3, 3]
    assert np.allclose(rows, [unit(text) for text in texts], atol=1e-5)


async def test_dimensions_are_asked_for_and_checked(fake: FakeOpenAI) -> None:
    embedder = OpenAIEmbedder(Endpoint(fake.base_url, None, 60.0), model="m", dimensions=4)
    assert (await embedder.embed(["x"])).shape == (1, 4)
    assert embedder.name == "openai/m-4"
    assert fake.requests[0].body["dimensions"] == 4
    fake.default = Raw(b'{"data": [{"index": 0, "embedding": [1.0, 2.0]}]}')
    with pytest.raises(EmbeddingError, match="2 dimensions where 4 are expected"):
        await embedder.embed(["x"])
    await embedder.close()


@pytest.mark.parametrize(
    "reply",
    [
        Vectors(missing=1),
        Raw(b'{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1, 2]}]}'),
        Raw(b'{"data": [{"index": 0, "embedding": "no"}, {"index": 1, "embedding": "no"}]}'),
        Raw(b'{"data": [{"index": 0, "embedding": [1e99]}, {"index": 1, "embedding": [0]}]}'),
    ],
)
async def test_vectors_that_are_none_are_refused(
    fake: FakeOpenAI, embedder: OpenAIEmbedder, reply: Vectors | Raw
) -> None:
    fake.default = reply
    with pytest.raises(EmbeddingError, match="embed-m"):
        await embedder.embed(["one", "two"])


@pytest.mark.parametrize("nothing", ["1e99", "0", "null"])
async def test_one_vector_that_is_none_costs_one_text(
    fake: FakeOpenAI, embedder: OpenAIEmbedder, nothing: str
) -> None:
    rows = f'{{"index": 0, "embedding": [{nothing}]}}, {{"index": 1, "embedding": [2]}}'
    fake.default = Raw(f'{{"data": [{rows}]}}'.encode())
    assert (await embedder.embed(["one", "two"])).tolist() == [[0.0], [1.0]]
    assert len(fake.requests) == 1
    (said,) = embedder.take_lessons()
    assert "made no vector of 1 text" in said
    with pytest.raises(EmbeddingError):
        await embedder.embed_once(["one", "two"])


async def test_transient_failures_are_tried_again_and_others_are_not(
    fake: FakeOpenAI, embedder: OpenAIEmbedder
) -> None:
    fake.script(Status(429), Raw(b"{broken"), Vectors())
    assert (await embedder.embed(["x"])).shape == (1, 8)
    fake.script(Status(401))
    with pytest.raises(ModelAuthError):
        await embedder.embed(["x"])
    fake.default = Raw(b"[]")
    with pytest.raises(ModelOutputError):
        await embedder.embed(["x"])


async def test_one_call_says_what_it_used(fake: FakeOpenAI, embedder: OpenAIEmbedder) -> None:
    assert isinstance(embedder, Metered)
    made = await embedder.embed_once(["one", "", "three"])
    assert np.allclose(made.vectors[[0, 2]], [unit("one"), unit("three")], atol=1e-5)
    assert not made.vectors[1].any()
    assert [r.body["input"] for r in fake.requests] == [["one", "three"]]
    assert made.usage == Usage(calls=1, input_tokens=1)
    assert (await embedder.embed_once([" "])).usage == Usage()
    assert [bool(row.any()) for row in await embedder.embed(["", "two", " \n"])] == [
        False,
        True,
        False,
    ]
    assert [r.body["input"] for r in fake.requests] == [["one", "three"], ["two"]]
    assert (await embedder.embed([])).shape == (0, 8)


@pytest.mark.parametrize("usage", [None, {"prompt_tokens": -1}, {"prompt_tokens": 0}, "many"])
async def test_a_usage_that_cannot_be_is_estimated(
    fake: FakeOpenAI, embedder: OpenAIEmbedder, usage: object
) -> None:
    data = [{"index": 0, "embedding": [1.0, 0.0]}]
    fake.default = Raw(json.dumps({"data": data, "usage": usage}).encode())
    made = await embedder.embed_once(["x" * 70])
    assert made.usage == Usage(calls=1, input_tokens=20, estimated=True)


async def test_one_call_is_one_try_and_a_useless_reply_was_paid_for(
    fake: FakeOpenAI, embedder: OpenAIEmbedder
) -> None:
    fake.script(Status(500), Vectors(missing=1))
    with pytest.raises(ModelUnavailableError):
        await embedder.embed_once(["one", "two"])
    with pytest.raises(EmbeddingError) as failed:
        await embedder.embed_once(["one", "two"])
    assert failed.value.usage is not None
    assert failed.value.usage.calls == 1
    assert len(fake.requests) == 2


def limited(texts: int = 10**6, tokens: int = 10**6, encoding: str = "") -> Decide:
    """An endpoint that refuses more texts or tokens in one call, or an encoding."""

    def refuse(request: Recorded) -> Status | None:
        sent = request.body["input"]
        if encoding and request.body["encoding_format"] == encoding:
            return Status(400, message=f"encoding_format {encoding} is not supported")
        if len(sent) > texts:
            return Status(400, message=f"batch size is invalid, not larger than {texts}")
        if sum(len(text) for text in sent) // 4 > tokens:
            return Status(500, message="input is too large to process. increase the batch size")
        return None

    return refuse


@pytest.mark.parametrize(
    "refuse", [limited(texts=10), limited(tokens=300), limited(encoding="base64")]
)
async def test_what_an_endpoint_refuses_is_asked_in_another_way(
    fake: FakeOpenAI, embedder: OpenAIEmbedder, refuse: Decide
) -> None:
    fake.refuse = refuse
    texts = [f"text {number} on kilns" for number in range(60)]
    rows = await embedder.embed(texts)
    assert np.allclose(rows, [unit(text) for text in texts], atol=1e-5)


@pytest.mark.parametrize("most", [10, 25, 32, 96])
@pytest.mark.parametrize("of", ["texts", "tokens"])
async def test_few_calls_are_refused_until_their_size_is_known(
    fake: FakeOpenAI, embedder: OpenAIEmbedder, most: int, of: str
) -> None:
    sizes = {"texts": most} if of == "texts" else {"tokens": 30 * most}
    refusal, refused = limited(**sizes), list[Status]()

    def refuse(request: Recorded) -> Status | None:
        found = refusal(request)
        refused.extend([found] if isinstance(found, Status) else [])
        return found if isinstance(found, Status) else None

    fake.refuse = refuse
    texts = [f"text {number} on kilns" + " and clay" * (number % 17) for number in range(1_000)]
    rows = await embedder.embed(texts)
    assert np.allclose(rows, [unit(text) for text in texts], atol=1e-5)
    assert len(refused) <= 14
    refused.clear()
    await embedder.embed(texts[:500])
    await embedder.embed_once(texts[: embedder.fit.sizes.texts // 4])
    assert len(refused) <= 2


@pytest.mark.parametrize("context", [512, None])
async def test_a_limit_of_texts_that_is_known_is_kept_to(
    fake: FakeOpenAI, context: int | None
) -> None:
    if context is None:
        fake.pages["/info"] = {"max_input_length": 512, "auto_truncate": False}
    embedder = OpenAIEmbedder(Endpoint(fake.base_url, None, 60.0), model="m", context=context)
    await embedder.embed(["kiln " * 1_000])
    await embedder.close()
    sent = [text for request in fake.requests for text in request.body["input"]]
    assert max(map(len, sent)) <= 4 * 512
    # A server that says nothing may still cut.
    assert (len(fake.requests) > 1) == (context is not None)


@pytest.mark.parametrize("texts", [1, 2])
async def test_a_count_that_never_changes_shows_no_cut(
    fake: FakeOpenAI, embedder: OpenAIEmbedder, texts: int
) -> None:
    fake.default, fake.refuse = Vectors(usage=lambda _: 2_000), limited(texts=texts)
    text = "kiln " * 1_000
    (row,) = await embedder.embed([text])
    assert np.allclose(row, unit(text), atol=1e-5)
    assert embedder.take_lessons() == ()


async def test_a_text_too_long_counts_by_all_of_its_pieces(
    fake: FakeOpenAI, embedder: OpenAIEmbedder
) -> None:
    fake.refuse = limited(tokens=300)
    rows = await embedder.embed(["kiln " * 1_000, "short"])
    assert np.allclose(rows[1], unit("short"), atol=1e-5)
    pieces = divide_text("kiln " * 1_000, embedder.fit.window or 0)
    assert "".join(pieces) == "kiln " * 1_000
    sent = [text for request in fake.requests for text in request.body["input"]]
    assert {*pieces} <= {*sent}
    mean = join_pieces([unit(piece) for piece in pieces], [*map(weigh, pieces)])
    assert np.allclose(rows[0], mean, atol=1e-5)
    with pytest.raises(PromptTooLongError):
        await embedder.embed_once(["kiln " * 1_000])


async def test_a_long_question_counts_as_a_whole_and_its_pieces_are_told_once(
    fake: FakeOpenAI, embedder: OpenAIEmbedder
) -> None:
    fake.refuse = limited(tokens=300)
    space, mapping = Space("digests", embedder), GraphMapping(labels=("Paper",), title="name")
    question = "Which kiln cracked the glaze? " * 100
    for told in (True, False):
        found = await embed_question(FakeDatabase(), space, mapping, question, 8)
        assert found.vector is not None
        assert ("in pieces, whose vectors are averaged" in found.note) == told


@pytest.mark.parametrize("counted", [512, 0, 1, None])
async def test_a_text_that_was_cut_is_not_embedded(
    fake: FakeOpenAI, embedder: OpenAIEmbedder, counted: int | None
) -> None:
    reply = {
        "data": [{"index": 0, "embedding": [0.5, 0.5]}],
        "usage": {"prompt_tokens": counted},
    }
    fake.default = Raw(json.dumps(reply).encode())
    if counted == 512:
        with pytest.raises(PromptCutError) as caught:
            await embedder.embed_once(["kiln " * 1_000])
        assert caught.value.usage == Usage(calls=1, input_tokens=512)
    else:  # no count, so nothing shows a cut
        assert (await embedder.embed_once(["kiln " * 1_000])).vectors.any()


async def test_a_vector_of_zeros_is_none(fake: FakeOpenAI, embedder: OpenAIEmbedder) -> None:
    reply = {"data": [{"index": 0, "embedding": [0.0, 0.0]}], "usage": {}}
    fake.default = Raw(json.dumps(reply).encode())
    with pytest.raises(EmbeddingError, match="zeros"):
        await embedder.embed_once(["kiln"])
