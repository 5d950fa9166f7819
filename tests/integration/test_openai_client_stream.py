"""OpenAILLM.stream, opened through the scheduler, against a fake endpoint on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from pgs_neo4j.errors import (
    ModelError,
    ModelOutputError,
    ModelRateLimitError,
    ModelTimeoutError,
    ModelUnavailableError,
)
from pgs_neo4j.llm.openai.chat import OpenAILLM
from pgs_neo4j.llm.openai.endpoint import Endpoint
from pgs_neo4j.model import Completion, Prompt
from tests.asking import Asked
from tests.fakes.openai_server import (
    Answer,
    Drop,
    FakeOpenAI,
    Hang,
    Raw,
    Recorded,
    Scripted,
    Stall,
    Status,
    StreamError,
)

pytestmark = pytest.mark.usefixtures("no_waits")
PROMPT = Prompt(task="synthesis", system="think", user="about it", question="about it")
TEXT = "A thesis in a few words, ünd more."


@pytest.fixture
async def llm(fake: FakeOpenAI) -> AsyncIterator[Asked]:
    model = Asked(OpenAILLM("m", Endpoint(fake.base_url, None, 60.0)), 60.0)
    yield model
    await model.close()


async def drained(llm: Asked) -> tuple[list[str], Completion]:
    items = [item async for item in llm.stream(PROMPT, max_tokens=99, effort="high")]
    *pieces, last = items
    assert isinstance(last, Completion)
    texts = [piece for piece in pieces if isinstance(piece, str)]
    assert len(texts) == len(pieces)
    assert "".join(texts) == last.text
    return texts, last


async def broken(llm: Asked) -> tuple[list[str], ModelError]:
    pieces: list[str] = []

    async def consume() -> None:
        async for item in llm.stream(PROMPT, max_tokens=99):
            assert isinstance(item, str)
            pieces.append(item)

    with pytest.raises(ModelError) as caught:
        await consume()
    assert "about it" not in str(caught.value)
    return pieces, caught.value


async def test_pieces_then_one_completion_with_usage(fake: FakeOpenAI, llm: Asked) -> None:
    fake.script(Answer(TEXT, pieces=4))
    pieces, completion = await drained(llm)
    assert len(pieces) == 4
    assert completion.text == TEXT
    assert not completion.truncated
    assert not completion.usage.estimated
    [request] = fake.chats
    assert request.body["stream_options"] == {"include_usage": True}
    assert request.body["reasoning_effort"] == "high"


async def test_usage_is_estimated_where_stream_options_are_refused(
    fake: FakeOpenAI, llm: Asked
) -> None:
    def refuse(request: Recorded) -> Status | None:
        return Status(400, message="stream_options?") if "stream_options" in request.body else None

    fake.refuse = refuse
    fake.default = Answer(TEXT)
    assert (await drained(llm))[1].usage.estimated
    assert (await drained(llm))[1].text == TEXT
    assert len(fake.chats) == 3


@pytest.mark.parametrize(
    "failing",
    [
        *(Status(429), Status(500), Drop(), StreamError(0), Raw(b"hello")),
        Raw(b"data: {broken\n\n", "text/event-stream"),
        Raw(b'data: {"choices": 7}\n\n', "text/event-stream"),
    ],
)
async def test_failures_before_the_first_piece_are_tried_again(
    fake: FakeOpenAI, llm: Asked, failing: Status | Drop | StreamError | Raw
) -> None:
    fake.script(failing, Answer(TEXT))
    assert (await drained(llm))[1].text == TEXT
    assert len(fake.chats) == 2


@pytest.mark.parametrize(
    ("reply", "pieces", "kind"),
    [
        (StreamError(2), 2, ModelUnavailableError),
        (Answer(""), 0, ModelOutputError),
        (Answer("half", finish_reason="content_filter"), 4, ModelOutputError),
        (Answer("", refusal="I would rather not"), 0, ModelOutputError),
        (Status(429, {"Retry-After": "999"}), 0, ModelRateLimitError),
    ],
)
async def test_a_stream_without_an_answer_is_a_typed_error_and_not_tried_again(
    fake: FakeOpenAI, llm: Asked, reply: Scripted, pieces: int, kind: type[ModelError]
) -> None:
    fake.script(reply)
    heard, error = await broken(llm)
    assert (len(heard), type(error)) == (pieces, kind)
    assert len(fake.chats) == 1


@pytest.mark.parametrize(
    ("reply", "truncated"),
    [
        (Answer(TEXT, finish_reason="length"), True),
        (Answer(TEXT, finish_reason=None), True),
        (Answer(TEXT, finish_reason="stop"), False),
        (Answer(TEXT, finish_reason=""), False),  # no word for the end, but a [DONE]
        (Answer(TEXT, finish_reason="error"), True),
        (Answer(TEXT, finish_reason="MAX_TOKENS"), True),
        (Drop(pieces=3), True),
    ],
)
async def test_how_a_stream_ends_decides_truncation(
    fake: FakeOpenAI, llm: Asked, reply: Answer | Drop, truncated: bool
) -> None:
    fake.script(reply)
    pieces, completion = await drained(llm)
    assert completion.truncated is truncated
    if isinstance(reply, Drop):
        assert (len(pieces), completion.usage.estimated) == (3, True)


async def test_silence_between_pieces_is_bounded(fake: FakeOpenAI) -> None:
    llm = Asked(OpenAILLM("m", Endpoint(fake.base_url, None, 60.0), idle_timeout_s=1.5), 60.0)
    fake.script(Stall(pieces=2))
    pieces, error = await broken(llm)
    assert len(pieces) == 2
    assert isinstance(error, ModelTimeoutError)
    assert "stalled" in str(error)
    await llm.close()


async def test_silence_before_the_first_piece_is_bounded_by_the_deadline_alone(
    fake: FakeOpenAI,
) -> None:
    llm = Asked(OpenAILLM("m", Endpoint(fake.base_url, None, 0.4), idle_timeout_s=0.05), 60.0)
    fake.default = Hang()
    _, error = await broken(llm)
    assert isinstance(error, ModelTimeoutError)
    assert "within 0.4 s" in str(error)
    await llm.close()


async def test_leaving_early_frees_the_connection(fake: FakeOpenAI, llm: Asked) -> None:
    fake.script(Stall(pieces=1), Answer(TEXT))
    async with aclosing(llm.stream(PROMPT, max_tokens=9)) as stream:
        assert await anext(stream)
    assert (await drained(llm))[1].text == TEXT


async def test_canceling_in_mid_stream_passes_through(fake: FakeOpenAI, llm: Asked) -> None:
    fake.script(Stall(pieces=1))
    seen = asyncio.Event()

    async def consume() -> None:
        async for _ in llm.stream(PROMPT, max_tokens=9):
            seen.set()

    task = asyncio.create_task(consume())
    await seen.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
