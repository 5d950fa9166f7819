"""No client follows a redirect: not for a chat, a stream, embeddings, or the list of models."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing, asynccontextmanager

import pytest
from pydantic import SecretStr

from pgs_neo4j.errors import ModelUnavailableError
from pgs_neo4j.llm.embedders.openai import OpenAIEmbedder
from pgs_neo4j.llm.openai.chat import OpenAILLM
from pgs_neo4j.llm.openai.endpoint import Endpoint
from pgs_neo4j.model import Prompt
from tests.fakes.openai_server import FakeOpenAI, Status

SECRET = "sk-not-for-others"
PROMPT = Prompt(task="sweep", system="read", user="secretquestion", question="secretquestion")


@pytest.fixture
def other() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as server:
        yield server


@asynccontextmanager
async def model_at(fake: FakeOpenAI) -> AsyncIterator[OpenAILLM]:
    model = OpenAILLM("m", Endpoint(fake.base_url, SecretStr(SECRET), 60.0))
    try:
        yield model
    finally:
        await model.close()


async def chat(fake: FakeOpenAI) -> None:
    async with model_at(fake) as model:
        await model.complete(PROMPT, max_tokens=9)


async def stream(fake: FakeOpenAI) -> None:
    async with model_at(fake) as model, aclosing(model.stream(PROMPT, max_tokens=9)) as pieces:
        async for _ in pieces:
            pass


async def probe(fake: FakeOpenAI) -> None:
    async with model_at(fake) as model:
        await model.probe()


async def embed(fake: FakeOpenAI) -> None:
    embedder = OpenAIEmbedder(Endpoint(fake.base_url, SecretStr(SECRET), 60.0), model="e")
    try:
        await embedder.embed(["secretquestion"])
    finally:
        await embedder.close()


@pytest.mark.parametrize("ask", [chat, stream, probe, embed])
@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
async def test_a_redirect_is_told_and_not_followed(
    fake: FakeOpenAI, other: FakeOpenAI, ask: Callable[[FakeOpenAI], Awaitable[None]], code: int
) -> None:
    target = f"{other.base_url}/chat/completions?token=hidden".replace("127.0.0.1", "localhost")
    fake.refuse = lambda _: Status(code, {"Location": target})
    with pytest.raises(ModelUnavailableError) as caught:
        await ask(fake)
    told = str(caught.value)
    assert f"redirects to localhost (HTTP {code})" in told
    assert "set PGS_LLM_BASE_URL" in told
    for hidden in ("hidden", "completions", "secretquestion", SECRET):
        assert hidden not in told
    assert caught.value.retry is None
    assert other.requests == []


@pytest.mark.parametrize(
    "location", ["", "/v1/chat/completions", "http://[", "http://a\x7fb\u202e/", "//a b/"]
)
async def test_a_loop_or_an_odd_target_is_asked_once_and_not_quoted(
    fake: FakeOpenAI, location: str
) -> None:
    quoted = location.encode("utf-8").decode("latin-1")
    fake.refuse = lambda _: Status(302, {"Location": quoted} if location else {})
    fake.default = Status(302, {"Location": fake.base_url + "/chat/completions"})
    with pytest.raises(ModelUnavailableError, match=r"redirects \(HTTP 302\)"):
        await chat(fake)
    assert len(fake.requests) == 1
    fake.refuse = lambda _: None
    with pytest.raises(ModelUnavailableError, match=r"redirects to 127\.0\.0\.1 \(HTTP 302\)"):
        await chat(fake)
    assert len(fake.requests) == 2
