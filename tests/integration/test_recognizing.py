"""A server of unknown kind shows by what it says of its models which one it is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from pgs_neo4j.config import PGSConfig, Settings
from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine.doctor.models import examine_models
from pgs_neo4j.llm.context import ModelContext, advise_context
from pgs_neo4j.llm.embedders.openai import OpenAIEmbedder
from pgs_neo4j.llm.factory import create_llms
from pgs_neo4j.llm.ollama.chat import OllamaLLM
from pgs_neo4j.llm.openai.chat import OpenAILLM
from pgs_neo4j.llm.openai.endpoint import Endpoint as ModelEndpoint
from pgs_neo4j.llm.openai.recognizing import AskedLLM, AskedServer
from tests.conftest import Endpoint
from tests.engines import model_on_papers
from tests.fakes.ollama import FakeOllama
from tests.fakes.openai_server import Answer, Drop, FakeOpenAI, Status, contract_answer
from tests.fakes.windows import Window
from tests.fakes.wires import WIRES, WireServer, listed

CONTEXT = 8_192
# What each calls itself, what one types there for more, and what it is asked beside its version,
# which only Ollama has.
SERVERS = {
    "vllm": ("vLLM", "vllm serve reader --max-model-len 32768", ["/v1/models"]),
    "llamacpp": ("llama.cpp", "llama-server -c 131072 -np 4", ["/v1/models", "/props"]),
    "lmstudio": (
        "LM Studio",
        "lms load reader --context-length 32768",
        ["/v1/models", "/api/v0/models"],
    ),
    "tgi": (
        "TGI",
        "--max-total-tokens 32768 --max-input-tokens 28672",
        ["/v1/models", "/api/v0/models", "/info"],
    ),
    "ollama": ("Ollama", "ollama pull llama3.1:8b", ["/api/ps"]),
}
NAMES = {"sweep_model": "reader", "synthesis_model": "reader"}


@pytest.fixture
def fake() -> Iterator[FakeOpenAI]:
    with FakeOpenAI(default=Answer(contract_answer)) as server:
        yield server


def serve(fake: FakeOpenAI, kind: str) -> None:
    """Let a fake answer as a kind of server with a small context."""
    if kind == "ollama":
        FakeOllama("reader", limit=CONTEXT).put_before(fake)
    else:
        WireServer(WIRES[kind], Window(CONTEXT, WIRES[kind].cut)).install(fake)


@asynccontextmanager
async def asked(fake: FakeOpenAI, model: str = "reader") -> AsyncIterator[AskedLLM]:
    """A model at an address of which nothing is known."""
    names = {"sweep_model": model, "synthesis_model": model}
    readers = create_llms(Settings(llm_base_url=fake.base_url, **names), PGSConfig())
    assert isinstance(readers.sweep, AskedLLM)
    yield readers.sweep
    await readers.close()


@pytest.mark.parametrize("kind", SERVERS)
async def test_a_server_is_recognized_by_what_it_is_asked_for_the_context(fake, kind):
    serve(fake, kind)
    title, typed, places = SERVERS[kind]
    async with asked(fake) as llm:
        known = await llm.read_context()
        assert known is not None
        assert known.described == f"8,192 tokens (as {title} says)"
        assert advise_context(known, "reader", llm.larger_context).endswith(typed)
    assert fake.looked_at == ["/api/version", *places]


@pytest.mark.parametrize("kind", SERVERS)
async def test_the_doctor_names_the_server_and_what_to_type(fake, kind):
    serve(fake, kind)
    settings = Settings(llm_base_url=fake.base_url, **NAMES)
    (check,) = [one for one in await examine_models(settings, PGSConfig()) if one.name == "model"]
    title, typed, _ = SERVERS[kind]
    assert check.detail.endswith(f"its context: 8,192 tokens (as {title} says)")
    assert check.fix is not None
    assert check.fix.endswith(typed)


@pytest.mark.usefixtures("no_waits")
async def test_a_run_and_a_plan_name_the_server_and_what_to_type(
    endpoint: Endpoint, db: Database, fake: FakeOpenAI
) -> None:
    serve(fake, "vllm")
    title, typed, _ = SERVERS["vllm"]
    async with model_on_papers(endpoint, db, fake, topics=1, **NAMES) as pgs:
        plan = await pgs.plan("Why?", full_sweep=True)
        answer = await pgs.execute("Why?", full_sweep=True)
    assert plan.contexts == (("reader", f"8,192 tokens (as {title} says)"),)
    assert [text for text in answer.warnings if text.endswith(typed)]


@pytest.mark.parametrize(
    ("pages", "context", "advice"),
    [
        # LM Studio loads a model when it is asked, with a context of its own.
        (
            {"/api/v0/models": listed(state="not-loaded", max_context_length=131_072)},
            None,
            "run LM Studio's: lms unload reader; lms load reader --context-length 32768",
        ),
        (
            {"/v1/models": listed(max_model_len=CONTEXT, owned_by="sglang")},
            ModelContext(CONTEXT, "server", refuses=True),
            "",
        ),
        # Its model is at its own limit.
        (
            {
                "/v1/models": listed(meta={"n_ctx_train": CONTEXT}),
                "/props": {"default_generation_settings": {"n_ctx": CONTEXT}, "total_slots": -1},
            },
            ModelContext(CONTEXT, "server", refuses=True, server="llama.cpp"),
            "use a model that was trained for more than 8,192 tokens",
        ),
        # llama.cpp answers for its model under any name.
        (
            {
                "/v1/models": {"data": [{"id": "a.gguf", "owned_by": "llamacpp", "meta": None}]},
                "/props": {"default_generation_settings": {"n_ctx": CONTEXT}},
            },
            ModelContext(CONTEXT, "server", refuses=True, server="llama.cpp"),
            "start llama.cpp with: llama-server -c 32768 -np 1",
        ),
        ({"/info": {"max_total_tokens": "many"}, "/props": [], "/v1/models": 7}, None, ""),
        ({"/api/v0/models": {"error": "Unexpected endpoint or method."}}, None, ""),
    ],
)
async def test_what_only_looks_like_a_kind_of_server_is_not_one(fake, pages, context, advice):
    fake.pages, fake.models = pages, None
    async with asked(fake) as llm:
        assert await llm.read_context() == context
        assert llm.larger_context == advice


async def test_another_server_at_the_address_is_recognized_in_its_turn(fake):
    async with asked(fake) as llm:
        for kind in ("vllm", "llamacpp", "lmstudio"):
            serve(fake, kind)
            known = await llm.read_context()
            assert known is not None
            assert known.server == SERVERS[kind][0]
            assert llm.larger_context.endswith(SERVERS[kind][1])
        fake.pages, advice = {}, llm.larger_context
        assert await llm.read_context() is None  # it is too busy to say
        assert llm.larger_context == advice


VERSION = "/api/version"


async def test_a_server_that_does_not_answer_is_not_asked_by_each_call(fake):
    fake.pages[VERSION] = Drop()
    for silence_s, asked in ((60.0, 1), (0.0, 3)):
        fake.looked_at.clear()
        server = AskedServer(ModelEndpoint(fake.base_url), silence_s=silence_s)
        assert [await server.is_ollama() for _ in range(3)] == [None] * 3
        assert fake.looked_at == [VERSION] * asked


@pytest.mark.parametrize("status", [429, 500, 502, 503])
async def test_a_server_that_is_starting_is_recognized_once_it_runs(fake, status):
    ollama = FakeOllama("reader").put_before(fake)
    fake.pages[VERSION] = Status(status)
    server = AskedServer(ModelEndpoint(fake.base_url))
    embedder = OpenAIEmbedder(ModelEndpoint(fake.base_url), model="reader")
    assert await server.is_ollama() is None
    await embedder.ask_limit()
    assert not embedder.fit.refuses
    ollama.put_before(fake)
    assert await server.is_ollama() is True
    await embedder.ask_limit()
    assert embedder.fit.refuses
    fake.pages[VERSION] = Status(404)
    assert await server.is_ollama() is True
    await embedder.close()


class SlowToClose(OpenAILLM):
    """Notes when it is closed, which takes a while."""

    closed = False

    async def close(self) -> None:
        await asyncio.sleep(0)
        await super().close()
        self.closed = True


async def test_first_calls_at_once_open_one_client_and_close_none_in_use(fake):
    FakeOllama("reader", limit=CONTEXT).put_before(fake)
    endpoint = ModelEndpoint(fake.base_url)
    former, created = SlowToClose("reader", endpoint), list[OllamaLLM]()

    def create() -> OllamaLLM:
        created.append(OllamaLLM("reader", endpoint))
        return created[-1]

    llm = AskedLLM(AskedServer(endpoint), former, create)
    await asyncio.gather(*(llm.read_context() for _ in range(4)))
    assert (len(created), former.closed) == (1, False)
    await llm.close()
    assert former.closed
