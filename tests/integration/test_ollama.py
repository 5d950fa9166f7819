"""Ollama natively: the context is set by call, and no prompt is cut."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import pytest

from pgs_neo4j.errors import (
    ModelError,
    ModelOutputError,
    ModelUnavailableError,
    PromptTooLongError,
    UnknownModelError,
)
from pgs_neo4j.llm.embedders.openai import OpenAIEmbedder
from pgs_neo4j.llm.ollama.chat import LEAST_CONTEXT, OllamaLLM
from pgs_neo4j.llm.openai.endpoint import Endpoint
from pgs_neo4j.llm.protocol import heard_by
from pgs_neo4j.model import Completion, Prompt
from tests.database import alter
from tests.engines import model_on_papers
from tests.fakes.ollama import FakeOllama
from tests.fakes.openai_server import FakeOpenAI, Raw, settles
from tests.integration.test_windows import LENGTHEN, ask, wrongly_read

MODEL = "llama3.1:8b"


@pytest.fixture
def fake() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as server:
        yield server


def prompt(words: int = 10) -> Prompt:
    return Prompt(task="sweep", system="You read.", user="clay and slip " * words, question="Why?")


def client(fake: FakeOpenAI, model: str = MODEL, **options: int) -> OllamaLLM:
    return OllamaLLM(model, Endpoint(fake.base_url, provider="ollama"), **options)


async def test_the_context_grows_in_steps_with_the_prompts_and_never_shrinks(fake):
    served = FakeOllama().put_before(fake)
    llm = client(fake)
    for words in (10, 3_000, 10, 9_000):
        reply = await llm.complete(prompt(words), max_tokens=1_000)
        assert reply.counted is not None
        assert not reply.truncated
    assert served.contexts == [4_096, 16_384, 16_384, 65_536]
    assert served.cuts == 0
    assert served.bodies[0]["truncate"] is False
    assert served.bodies[0]["options"] == {"num_ctx": 4_096, "num_predict": 1_000}
    await llm.close()


async def test_a_stream_ends_with_the_whole_and_without_its_thoughts(fake):
    served = FakeOllama(thinks=True).put_before(fake)
    llm = client(fake)
    pieces = [piece async for piece in llm.stream(prompt(), max_tokens=500, effort="high")]
    whole = pieces.pop()
    assert isinstance(whole, Completion)
    assert "".join(str(piece) for piece in pieces) == whole.text
    assert "Hm." not in whole.text
    assert whole.usage.input_tokens == whole.counted
    assert not whole.usage.estimated
    # A model without levels of thinking refuses their names, and thinks all the same.
    assert [body.get("think") for body in served.bodies] == ["high", True]
    await llm.close()


async def test_a_reply_that_is_waited_for_comes_in_pieces_and_is_the_same(fake):
    served = FakeOllama(thinks=True).put_before(fake)
    llm, heard = client(fake), list[int]()
    whole = await llm.complete(prompt(), max_tokens=500, effort="high")
    with heard_by(heard.append):
        assert await llm.complete(prompt(), max_tokens=500, effort="high") == whole
    assert heard == list(range(1, len(heard) + 1))
    assert len(heard) > 2
    assert [body["stream"] for body in served.bodies[1:]] == [False, True]
    await llm.close()


@pytest.mark.parametrize(
    ("lines", "error", "said", "again"),
    [
        (
            [{"message": {"content": "## Find"}}, {"error": "CUDA out of memory"}],
            ModelUnavailableError,
            "CUDA out of memory",
            True,
        ),
        ([{"message": {"content": "## Find"}}], ModelUnavailableError, "while answering", True),
        ([{"message": {"content": "x" * 9_999}}] * 9, ModelOutputError, "kept sending", False),
        ([{"message": 7}], ModelOutputError, "sent a reply that is not", True),
    ],
)
async def test_a_reply_in_pieces_that_breaks_off_is_no_reply(fake, lines, error, said, again):
    served = FakeOllama().put_before(fake)
    content = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    broken = Raw(content, "application/x-ndjson")
    fake.refuse = lambda request: broken if request.path.endswith("/chat") else served(request)
    llm = client(fake)
    with heard_by(lambda _: None), pytest.raises(error, match=said) as caught:
        await llm.complete(prompt(), max_tokens=500)
    assert (caught.value.retry is not None) == again
    await llm.close()


@pytest.mark.parametrize(
    ("served", "sent"),
    [
        (FakeOllama(), [None, None]),
        (FakeOllama(thinks=True, named_efforts=True), ["low", "low"]),
        (FakeOllama(thinks=True), ["low", True, True]),
    ],
)
async def test_an_effort_is_asked_only_of_a_model_that_thinks(fake, served, sent):
    served.put_before(fake)
    llm = client(fake)
    for _ in range(2):
        await llm.complete(prompt(), max_tokens=500, effort="minimal")
    assert [body.get("think") for body in served.bodies] == sent
    await llm.close()


async def test_a_prompt_beyond_the_model_is_refused_with_its_limit(fake):
    FakeOllama(limit=8_192).put_before(fake)
    llm = client(fake)
    with pytest.raises(PromptTooLongError, match="lower max_pass_tokens") as caught:
        await llm.complete(prompt(9_000), max_tokens=500)
    assert caught.value.context == 8_192
    assert caught.value.refuses
    await llm.close()


@pytest.mark.parametrize(("memory", "least"), [(8_192, 8_192), (4_096, 4_096)])
async def test_a_context_without_memory_is_halved(fake, memory, least):
    served = FakeOllama(memory=memory).put_before(fake)
    llm = client(fake)
    sizes = []
    while True:
        try:
            await llm.complete(prompt(4_500), max_tokens=500)
        except PromptTooLongError as error:
            sizes.append(error.context)
            if error.refuses:
                break
    assert sizes[-1] == least
    assert served.cuts == 0
    assert "OLLAMA_KV_CACHE_TYPE=q8_0" in llm.larger_context
    await llm.complete(prompt(), max_tokens=500)
    await llm.close()


async def test_no_memory_for_any_context_is_one_sentence(fake):
    FakeOllama(memory=LEAST_CONTEXT - 1).put_before(fake)
    llm = client(fake)
    with pytest.raises(ModelUnavailableError, match="too little memory for this model"):
        await llm.complete(prompt(), max_tokens=500)
    await llm.close()


async def test_a_model_that_is_not_there_can_be_pulled(fake):
    FakeOllama().put_before(fake)
    llm = client(fake, "qwen3:4b")
    with pytest.raises(UnknownModelError, match=r"run: ollama pull qwen3:4b"):
        await llm.complete(prompt(), max_tokens=500)
    assert (await llm.probe()).listed is False
    await llm.close()
    llm = client(fake)
    assert (await llm.probe()).listed
    await llm.close()


@pytest.mark.parametrize(
    ("served", "tokens"),
    [
        (FakeOllama(), 32_768),
        (FakeOllama(limit=8_192), 8_192),
        (FakeOllama(loaded=65_536), 65_536),
        (FakeOllama(modelfile='stop "x"\nnum_ctx                        40960'), 40_960),
    ],
)
async def test_the_context_is_the_models_within_what_is_usual(fake, served, tokens):
    served.put_before(fake)
    llm = client(fake)
    known = await llm.read_context()
    assert known is not None
    assert (known.tokens, known.origin, known.refuses) == (tokens, "server", False)
    await llm.close()


@pytest.mark.parametrize(
    ("served", "error"),
    [
        (FakeOllama(done_reason="load"), "broke its answer off"),
        (FakeOllama(answer=lambda _: " "), "sent an empty answer"),
    ],
)
async def test_an_odd_end_is_no_reply(fake, served, error):
    served.put_before(fake)
    llm = client(fake)
    with pytest.raises(ModelError, match=error):
        await llm.complete(prompt(), max_tokens=500)
    await llm.close()


async def test_a_stream_that_breaks_off_is_no_reply(fake):
    FakeOllama().put_before(fake)
    half = b'{"message": {"content": "Half a"}, "done": false}\n{"error": "gone"}\n'
    llm = client(fake)
    await llm.complete(prompt(), max_tokens=500)
    for content in (half, half.partition(b"\n{")[0] + b"\n", b"no json\n"):
        fake.refuse = lambda _, content=content: Raw(content, "application/x-ndjson")
        with pytest.raises(ModelError, match=r"broke off|reported an error|not OpenAI-compatible"):
            [piece async for piece in llm.stream(prompt(), max_tokens=500)]
    await llm.close()


@pytest.mark.parametrize("words", [40])
@pytest.mark.parametrize(
    ("served", "settings"),
    [
        (FakeOllama(limit=4_096), {}),
        (FakeOllama(limit=8_192), {}),
        (FakeOllama(memory=8_192), {}),
        (FakeOllama(limit=4_096, old=True), {}),
        (FakeOllama(limit=8_192, counts=False), {}),
        (FakeOllama(), {"models": {MODEL: {"context": 4_096}}}),
    ],
)
async def test_all_is_read_whatever_the_context(endpoint, db, fake, served, settings, words):
    """The server is not named: it is asked whether it is Ollama."""
    served.put_before(fake)
    named = {"sweep_model": MODEL, "synthesis_model": MODEL} | settings
    async with model_on_papers(endpoint, db, fake, topics=2, **named) as pgs:
        await alter(db, LENGTHEN, words=words)
        answer = await ask(pgs)
        assert await wrongly_read(db, served, answer) == []
        assert answer.coverage.nodes_read == answer.coverage.nodes_total == 80
        assert not answer.partial
        assert any("reads in many short passes" in text for text in answer.warnings)
        assert not fake.chats
        # The call that settles what the synthesis takes loads what the first sweep needs.
        assert settles(served.bodies[0])
        assert served.contexts[0] == served.contexts[1]
        if settings:
            assert max(served.contexts) == 4_096


async def test_embeddings_are_of_whole_texts_or_of_none(fake):
    served = FakeOllama(limit=512).put_before(fake)
    embedder = OpenAIEmbedder(Endpoint(fake.base_url), model="nomic-embed-text")
    rows = await embedder.embed(["clay", "", "slip " * 2_000])
    assert rows.shape == (3, 3)
    assert not rows[1].any()
    assert np.allclose(np.linalg.norm(rows[[0, 2]], axis=1), 1.0)
    assert served.cuts == 0
    with pytest.raises(PromptTooLongError):
        await embedder.embed_once(["slip " * 2_000])
    await embedder.close()
