"""The reranker behind an endpoint, against a fake one on loopback."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

import pytest
from pydantic import SecretStr

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import (
    ConfigError,
    ModelAuthError,
    ModelOutputError,
    ModelRateLimitError,
    ModelTimeoutError,
    ModelUnavailableError,
    PromptTooLongError,
)
from pgs_neo4j.llm.openai.endpoint import Endpoint as ModelEndpoint
from pgs_neo4j.llm.openai.refusals import RERANKER_WORDS
from pgs_neo4j.llm.openai.reranking import HTTPReranker
from pgs_neo4j.llm.protocol import RelevanceModel
from tests.conftest import Endpoint
from tests.engines import engine_on
from tests.fakes.openai_server import Endless, FakeOpenAI, Hang, Raw, Recorded, Status
from tests.graphs import papers

pytestmark = pytest.mark.usefixtures("no_waits")
SECRET = "sk-not-for-others"


@pytest.fixture
async def model(fake: FakeOpenAI) -> AsyncIterator[HTTPReranker]:
    made = HTTPReranker(
        ModelEndpoint(fake.base_url, SecretStr(SECRET), 60.0, RERANKER_WORDS), "ranks"
    )
    yield made
    await made.close()


def results(*pairs: tuple[int, float]) -> Raw:
    rows = [{"index": index, "relevance_score": score, "document": None} for index, score in pairs]
    return Raw(json.dumps({"id": "r", "results": rows, "meta": {}}).encode())


def by_length(request: Recorded) -> Raw:
    return results(*((place, -len(text)) for place, text in enumerate(request.body["documents"])))


async def test_texts_come_in_the_order_of_their_scores(
    fake: FakeOpenAI, model: HTTPReranker
) -> None:
    assert isinstance(model, RelevanceModel)
    fake.script(results((1, 0.1), (0, -4.5), (2, 0.9)))
    assert await model.rank("which?", ["one", "two", "three"]) == [2, 1, 0]
    request = fake.requests[0]
    assert request.path == "/v1/rerank"
    assert request.body == {
        "model": "ranks",
        "query": "which?",
        "documents": ["one", "two", "three"],
        "top_n": 3,
    }
    assert request.headers["authorization"] == f"Bearer {SECRET}"


async def test_blank_texts_are_not_sent_and_ties_keep_their_order(
    fake: FakeOpenAI, model: HTTPReranker
) -> None:
    fake.script(results((1, 0.5), (0, 0.5)))
    assert await model.rank("which?", ["", "one", " \n", "two", "three"]) == [1, 3]
    assert fake.requests[0].body["documents"] == ["one", "two", "three"]
    assert await model.rank("which?", ["", " "]) == []
    assert len(fake.requests) == 1


async def test_no_model_need_be_named(fake: FakeOpenAI) -> None:
    fake.refuse = by_length
    unnamed = HTTPReranker(ModelEndpoint(fake.base_url, None, 60.0, RERANKER_WORDS))
    assert await unnamed.rank("why?", ["ü" * 90, "short"]) == [1, 0]
    await unnamed.close()
    assert "model" not in fake.requests[0].body


class Reader:
    """An endpoint that reads so many characters of a question and a text, and scores their words.

    It cuts longer ones in silence, or refuses them. Few refuse calls of many texts or tokens.
    """

    def __init__(
        self,
        reads: int = 10**9,
        *,
        refuses: bool = False,
        most_texts: int = 10**9,
        most_tokens: int = 10**9,
        usage: Callable[[int], object] = lambda _: {},
        vague: bool = False,
        scale: Callable[[int], float] = float,
    ) -> None:
        self.reads, self.refuses, self.usage, self.vague = reads, refuses, usage, vague
        self.most_texts, self.most_tokens = most_texts, most_tokens
        self.refused, self.scale = 0, scale
        self.sent: list[str] = []
        self.unread: list[str] = []

    def __call__(self, request: Recorded) -> Raw:
        question, texts = request.body["query"], request.body["documents"]
        whole = [f"{question}\n{text}" for text in texts]
        read = [text[: self.reads] for text in whole]
        total = sum(len(text) // 4 for text in read)
        if self.refuses and read != whole:
            return self._refuse(400, "maximum input length is exceeded")
        if len(texts) > self.most_texts or total > self.most_tokens:
            return self._refuse(413, f"batch size is larger than {self.most_texts}")
        self.sent += texts
        self.unread += [
            text for text, seen in zip(texts, read, strict=True) if len(seen) < len(text)
        ]
        words = {word for word in question.lower().split() if len(word) > 3}
        rows = [
            {
                "index": place,
                "relevance_score": float(place + 1)
                if self.vague
                else self.scale(
                    len(words & {*text.partition("\n")[2].lower().replace(".", "?").split()})
                ),
            }
            for place, text in enumerate(read)
        ]
        reply = {"results": rows} | dict(self.usage(total))  # type: ignore[call-overload]
        return Raw(json.dumps(reply).encode())

    def _refuse(self, status: int, message: str) -> Raw:
        self.refused += 1
        return Raw(json.dumps({"error": {"message": message}}).encode(), code=status)


QUESTION = "Which kiln cracked the celadon glaze?"
FILLER = "The slip of batch {} was poured by two potters near the river. "
FAR = "".join(map(FILLER.format, range(60))) + "The east kiln cracked the celadon glaze."
NEAR = "A kiln stood here. " + "".join(map(FILLER.format, range(60)))
LATE = [NEAR, "Nothing of that kind.", FAR, *("A short note." for _ in range(40))]

READERS: dict[str, tuple[Reader, bool]] = {
    # An endpoint, and whether texts of 4,000 characters go to it in pieces.
    "reads all": (Reader(), False),
    "cuts at 2,000 characters": (Reader(2_000), True),
    "cuts at 900": (Reader(900), True),
    "cuts at 500": (Reader(500), True),
    "refuses more than 150": (Reader(150, refuses=True), True),
    "refuses more than 2,000": (Reader(2_000, refuses=True), True),
    "takes 32 texts": (Reader(most_texts=32), False),
    "takes 8 texts and cuts": (Reader(1_500, most_texts=8), True),
    "takes 1,500 tokens a call": (Reader(2_000, refuses=True, most_tokens=1_500), True),
}


@pytest.mark.parametrize("name", READERS)
async def test_a_text_counts_by_its_best_piece_wherever_that_stands(
    fake: FakeOpenAI, model: HTTPReranker, name: str
) -> None:
    reader, divides = READERS[name]
    fake.refuse = reader
    ranked = await model.rank(QUESTION, LATE)
    assert ranked[0] == LATE.index(FAR)
    assert sorted(ranked) == [*range(len(LATE))]
    assert (FAR in reader.sent and FAR not in reader.unread) != divides
    told = model.take_lessons()
    assert any("in pieces, of which the best one counts" in text for text in told) == divides
    reader.sent, reader.unread = [], []
    calls, refused = len(fake.requests), reader.refused
    assert await model.rank(QUESTION, LATE) == ranked  # learned once
    assert reader.unread == []
    assert reader.refused <= refused + 1
    assert len(fake.requests) - calls <= calls
    assert model.take_lessons() == ()


USAGES: dict[str, Callable[[int], object]] = {
    "Jina and Voyage": lambda tokens: {"usage": {"total_tokens": tokens}},
    "vLLM": lambda tokens: {"usage": {"prompt_tokens": tokens}},
    "Cohere": lambda tokens: {"meta": {"billed_units": {"input_tokens": tokens}}},
}


@pytest.mark.parametrize("name", USAGES)
async def test_fewer_tokens_than_a_text_has_show_that_it_was_cut(
    fake: FakeOpenAI, model: HTTPReranker, name: str
) -> None:
    reader = Reader(1_200, usage=USAGES[name], vague=True)
    fake.refuse = reader
    await model.rank(QUESTION, [NEAR, FAR])
    assert "in pieces" in model.take_lessons()[0]
    reader.unread.clear()
    await model.rank(QUESTION, [NEAR, FAR])
    assert reader.unread == []


@pytest.mark.parametrize(
    "usage",
    [
        {"usage": {"total_tokens": -1}, "meta": None},
        {"usage": "many", "meta": {"billed_units": {"search_units": 1}}},
        {"usage": None, "meta": {"tokens": [1]}},
        {"usage": {"total_tokens": True}},
    ],
)
async def test_a_usage_that_cannot_be_shows_nothing(
    fake: FakeOpenAI, model: HTTPReranker, usage: dict[str, object]
) -> None:
    reader = Reader(usage=lambda _: usage)
    fake.refuse = reader
    assert (await model.rank(QUESTION, [NEAR, FAR]))[0] == 1
    assert FAR in reader.sent


WRONG: dict[str, Callable[[int], int]] = {
    "words": lambda tokens: tokens * 6 // 10,
    "a tenth": lambda tokens: tokens // 10,
    "always 300": lambda _: 300,
    "always 1": lambda _: 1,
}


@pytest.mark.parametrize("name", WRONG)
async def test_what_is_wrongly_counted_divides_no_text_for_good(
    fake: FakeOpenAI, model: HTTPReranker, name: str
) -> None:
    reader = Reader(usage=lambda tokens: {"usage": {"total_tokens": WRONG[name](tokens)}})
    fake.refuse = reader
    assert (await model.rank(QUESTION, LATE))[0] == LATE.index(FAR)
    reader.sent = []
    calls = len(fake.requests)
    assert (await model.rank(QUESTION, LATE))[0] == LATE.index(FAR)
    assert FAR in reader.sent
    assert len(fake.requests) == calls + 1


@pytest.mark.parametrize("ends", [(0.0, 1.0), (0.00001, 0.99999), (-11.5, 9.0)])
async def test_scores_that_hardly_differ_among_matches_are_not_those_of_a_cut(
    fake: FakeOpenAI, model: HTTPReranker, ends: tuple[float, float]
) -> None:
    """Models whose scores are probabilities give all good texts nearly 1."""
    reader = Reader(scale=lambda words: ends[words > 1])
    fake.refuse = reader
    await model.rank(QUESTION, [FAR, f"{FAR} {FAR}", *LATE])
    assert FAR in reader.sent
    assert model.fit.window is None


@pytest.mark.parametrize("reads", [600, 2_000])
@pytest.mark.parametrize("counts", [lambda tokens: tokens, lambda _: 6], ids=["right", "six"])
async def test_a_long_question_takes_room_from_the_texts(
    fake: FakeOpenAI, model: HTTPReranker, reads: int, counts: Callable[[int], int]
) -> None:
    reader = Reader(reads, usage=lambda tokens: {"usage": {"total_tokens": counts(tokens)}})
    fake.refuse = reader
    question = f"{QUESTION} {' '.join(['Say so in few words.'] * 60)}"
    for texts in (LATE, [NEAR[:150]], LATE):
        reader.unread = []
        ranked = await model.rank(question, texts)
        assert sorted(ranked) == [*range(len(texts))]
    assert reader.unread == []


async def test_a_text_that_is_refused_whatever_its_length_divides_no_other(
    fake: FakeOpenAI, model: HTTPReranker
) -> None:
    reader = Reader()

    def refuse(request: Recorded) -> Raw:
        bad = any("slag" in text for text in request.body["documents"])
        return reader._refuse(400, "input is too long") if bad else reader(request)

    fake.refuse = refuse
    bad = "slag " * 700
    ranked = await model.rank(QUESTION, [bad, *LATE])
    assert ranked[0] == 1 + LATE.index(FAR)
    assert sorted(ranked) == [*range(1, 1 + len(LATE))]
    assert model.fit.window is None
    reader.sent = []
    await model.rank(QUESTION, LATE)
    assert FAR in reader.sent


async def test_a_limit_that_is_known_bounds_what_is_sent(fake: FakeOpenAI) -> None:
    fake.pages["/info"] = {"max_input_length": 512, "auto_truncate": False}
    endpoint = ModelEndpoint(fake.base_url, None, 60.0, RERANKER_WORDS)
    for context in (None, 512, 128, 64):
        reader = Reader(4 * (context or 512), refuses=True)
        fake.refuse = reader
        model = HTTPReranker(endpoint, "ranks", context=context)
        assert (await model.rank(QUESTION, LATE))[0] == LATE.index(FAR)
        await model.close()
        assert reader.refused == 0


async def test_a_question_that_leaves_no_room_is_shortened_and_that_is_told(
    fake: FakeOpenAI, model: HTTPReranker
) -> None:
    reader = Reader()
    fake.refuse = reader
    await model.rank("why? " * 10_000, ["one"])
    assert len(fake.requests[0].body["query"]) <= 4_000
    assert "long questions without their end" in model.take_lessons()[0]


@pytest.mark.parametrize(
    "reply",
    [
        results(),
        results((0, 0.5), (0, 0.4)),
        results((0, 0.5), (2, 0.4)),
        results((-1, 0.5)),
        Raw(b'{"results": [{"index": 0, "relevance_score": NaN}]}'),
        Raw(b'{"results": [{"index": 0, "score": 1.0}]}'),
        Raw(b'[{"index": 0, "score": 1.0}]'),
        Raw(b"<html>"),
        Endless(b'{"results": [', b'{"index": 0, "relevance_score": 0.1}, '),
    ],
)
async def test_a_reply_that_breaks_the_interface_is_an_error(
    fake: FakeOpenAI, model: HTTPReranker, reply: Any
) -> None:
    fake.refuse = lambda _: reply
    with pytest.raises(ModelOutputError) as caught:
        await model.rank("secretquestion", ["secrettext", "another"])
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("status", "error", "advice"),
    [
        (Status(401), ModelAuthError, "set PGS_RERANK_API_KEY to a valid one"),
        (Status(404), ModelUnavailableError, "check PGS_RERANK_MODEL and PGS_RERANK_BASE_URL"),
        (Status(500), ModelUnavailableError, "kept failing"),
        (Status(429, {"retry-after": "100"}), ModelRateLimitError, "limits the rate"),
        (
            Status(307, {"Location": "http://localhost:9/v1?token=hidden"}),
            ModelUnavailableError,
            "redirects to localhost (HTTP 307), and redirects are never followed; set "
            "PGS_RERANK_BASE_URL",
        ),
        (Hang(), ModelTimeoutError, "use a faster model, or another reranker"),
    ],
)
async def test_a_failure_says_which_setting_to_correct(
    fake: FakeOpenAI, status: Any, error: type[Exception], advice: str
) -> None:
    fake.refuse = lambda _: status
    patience_s = 1.0 if isinstance(status, Hang) else 20.0
    model = HTTPReranker(
        ModelEndpoint(fake.base_url, SecretStr(SECRET), patience_s, RERANKER_WORDS), "ranks"
    )
    with pytest.raises(error) as caught:
        await model.rank("secretquestion", ["secrettext"])
    await model.close()
    assert advice in str(caught.value)
    for hidden in ("hidden", "secret", SECRET, "PGS_LLM", "PGS_SWEEP"):
        assert hidden not in str(caught.value)


@pytest.mark.parametrize(
    ("said", "error", "advice"),
    [
        ({"message": "No auth credentials found", "code": 401}, ModelAuthError, "RERANK_API_KEY"),
        ({"message": "no such model", "code": "404"}, ModelUnavailableError, "PGS_RERANK_MODEL"),
        ({"message": "Provider returned error", "code": 502}, ModelUnavailableError, "failing"),
        ({"message": "slow down", "type": "rate_limit_error"}, ModelRateLimitError, "the rate"),
        (
            {"message": "input is too long", "type": "invalid_request_error"},
            PromptTooLongError,
            "use a rerank_model with a larger context",
        ),
        ("the model crashed", ModelUnavailableError, "kept failing"),
    ],
)
async def test_an_error_with_status_200_is_the_error_that_it_names(
    fake: FakeOpenAI, said: object, error: type[Exception], advice: str
) -> None:
    fake.refuse = lambda _: Raw(json.dumps({"error": said, "results": []}).encode())
    endpoint = ModelEndpoint(fake.base_url, SecretStr(SECRET), 20.0, RERANKER_WORDS)
    model = HTTPReranker(endpoint, "ranks")
    with pytest.raises(error, match=advice) as caught:
        await model.rank("secretquestion", ["secrettext"])
    await model.close()
    assert "secret" not in str(caught.value)
    assert "max_pass_tokens" not in str(caught.value)


@pytest.mark.parametrize("url", ["https://u:hidden@host/v1", "ftp://host"])
def test_an_address_is_refused_by_the_name_of_its_setting(url: str) -> None:
    with pytest.raises(ConfigError, match=r"rerank_base_url \(PGS_RERANK_BASE_URL\)") as caught:
        ModelEndpoint(url, None, 5.0, RERANKER_WORDS)
    assert "hidden" not in str(caught.value)


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database, fake: FakeOpenAI) -> AsyncIterator[PGS]:
    mapping = await papers(db)
    settings: dict[str, Any] = {
        "rerank_base_url": fake.base_url,
        "rerank_model": "ranks",
        "embedder": "none",
        "models": {"scripted": {"input_price": 1.0, "output_price": 10.0}},
    }
    async with engine_on(endpoint, **settings) as opened:
        await opened.graphs.add("papers", mapping)
        yield opened


def _fail(failure: Raw | Status, _: Recorded) -> Raw | Status:
    return failure


def last_first(request: Recorded) -> Raw:
    return results(*((place, place) for place in range(len(request.body["documents"]))))


async def test_a_search_takes_the_order_of_the_endpoint_unless_it_fails(
    pgs: PGS, fake: FakeOpenAI
) -> None:
    fake.refuse = last_first
    plain = await pgs.search("fact101 orbital", graph="papers", top_k=200)
    found = await pgs.search("fact101 orbital", graph="papers", rerank="http", top_k=200)
    assert found.warnings == plain.warnings
    (request,) = fake.requests
    assert request.body["query"] == "fact101 orbital"
    assert request.body["documents"][0] == f"{plain.items[0].title}\n{plain.items[0].text}"
    assert len(found.items) > 5
    shown = [f"{item.title}\n{item.text}" for item in found.items]
    assert shown == request.body["documents"][::-1][: len(shown)]
    assert "sk-" not in request.headers["authorization"]
    failures: list[Raw | Status] = [
        Raw(b'{"error": {"message": "busy", "code": 503}}'),
        Status(503),
    ]
    for failure in failures:
        fake.refuse = partial(_fail, failure)
        found = await pgs.search("fact101 orbital", graph="papers", rerank="http", top_k=200)
        assert found.items == plain.items
        assert found.warnings[-1].startswith(
            "the order was kept, because the reranker http failed: the model endpoint 127.0.0.1:"
        )


def counting(request: Recorded) -> Raw:
    reply = json.loads(last_first(request).content)
    return Raw(json.dumps({**reply, "usage": {"total_tokens": 1_234}}).encode())


async def test_an_answer_counts_the_calls_of_its_reranker_and_keeps_enough_for_itself(
    pgs: PGS, fake: FakeOpenAI
) -> None:
    fake.refuse = counting
    asked: dict[str, Any] = {"graph": "papers", "answer": True, "cache": False}
    plain = await pgs.search("fact101 orbital", **asked)
    fake.requests.clear()
    found = await pgs.search("fact101 orbital", rerank="http", **asked)
    assert found.answer is not None
    assert plain.answer is not None
    calls = len(fake.requests)
    assert calls > 0
    assert found.answer.usage.calls == plain.answer.usage.calls + calls
    assert found.answer.usage.input_tokens >= plain.answer.usage.input_tokens + 1_000 * calls
    fake.requests.clear()
    for limit, why in (
        ({"max_calls": 1}, "too little of the limit for the answer"),
        ({"max_cost": 100.0}, "max_cost needs the price of ranks"),
    ):
        found = await pgs.search("fact101 orbital", rerank="http", **asked, **limit)
        assert found.answer is not None
        assert found.answer.text
        assert any("the order was kept" in text and why in text for text in found.warnings)
    assert fake.requests == []


async def test_without_an_address_the_order_stays(endpoint: Endpoint, db: Database) -> None:
    mapping = await papers(db)
    async with engine_on(endpoint, embedder="none") as opened:
        found = await opened.search("fact101", graph=mapping, rerank="http")
        assert found.items[0].key == "doi/101"
        assert found.warnings[-1] == (
            "the order was kept, because the reranker http has no endpoint; set rerank_base_url "
            "(PGS_RERANK_BASE_URL)"
        )
