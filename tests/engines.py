"""Engines on the test database, with a scripted model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import ModelUnavailableError
from pgs_neo4j.llm.scripted import Answer, Reply, ScriptedLLM, contract_reply
from pgs_neo4j.model import Prompt
from tests.conftest import Endpoint
from tests.fakes.openai_server import FakeOpenAI
from tests.graphs import papers

KNOBS: dict[str, Any] = {
    "min_community_size": 10,
    "target_partition_max": 60,
    "embedder": "none",
    "max_flag_sweeps": 0,
}
"""With these each topic of the papers becomes a partition."""


def engine_on(
    endpoint: Endpoint, answer: Answer = contract_reply, **settings: Any
) -> AbstractAsyncContextManager[PGS]:
    """An engine whose model gives the least reports that are accepted, or answers otherwise."""
    return PGS.connect(
        neo4j_uri=endpoint.uri,
        neo4j_user=endpoint.user,
        neo4j_password=endpoint.password,
        sweep_llm=ScriptedLLM(answer),
        synthesis_llm=ScriptedLLM(answer),
        **settings,
    )


def with_model(
    endpoint: Endpoint, fake: FakeOpenAI, **settings: Any
) -> AbstractAsyncContextManager[PGS]:
    """An engine whose model is the real client on a fake endpoint."""
    return with_address(endpoint, fake.base_url, **settings)


def with_address(
    endpoint: Endpoint, base_url: str, **settings: Any
) -> AbstractAsyncContextManager[PGS]:
    """An engine whose model is a real client on the fake of any interface."""
    models = {"llm_provider": "openai", "sweep_model": "reader", "synthesis_model": "writer"}
    return PGS.connect(
        neo4j_uri=endpoint.uri,
        neo4j_user=endpoint.user,
        neo4j_password=endpoint.password,
        llm_base_url=base_url,
        **KNOBS | models | settings,
    )


def without_models(endpoint: Endpoint, **settings: Any) -> AbstractAsyncContextManager[PGS]:
    """An engine that asks no model."""
    return PGS.connect_without_models(
        neo4j_uri=endpoint.uri,
        neo4j_user=endpoint.user,
        neo4j_password=endpoint.password,
        **settings,
    )


def own_engine(endpoint: Endpoint) -> dict[str, Any]:
    """What an adapter opens an engine of its own with, on the graph ``papers``."""
    return {
        "neo4j_uri": endpoint.uri, "neo4j_user": endpoint.user,
        "neo4j_password": endpoint.password, "graph": "papers",
        "sweep_llm": ScriptedLLM(contract_reply), "synthesis_llm": ScriptedLLM(contract_reply),
        **KNOBS,
    }  # fmt: skip


@asynccontextmanager
async def engine_on_papers(
    endpoint: Endpoint,
    db: Database,
    answer: Answer = contract_reply,
    *,
    topics: int = 4,
    size: int = 40,
    isolates: int = 0,
    **settings: Any,
) -> AsyncIterator[PGS]:
    """An engine on topics of papers; the others' connection is ``db``."""
    mapping = await papers(db, topics, size, isolates)
    async with engine_on(endpoint, answer, **KNOBS | settings) as opened:
        await opened.add_graph("papers", mapping)
        yield opened


@asynccontextmanager
async def model_on_papers(
    endpoint: Endpoint,
    db: Database,
    fake: FakeOpenAI,
    *,
    topics: int = 4,
    size: int = 40,
    **settings: Any,
) -> AsyncIterator[PGS]:
    """An engine on topics of papers, whose model is the real client on a fake endpoint."""
    mapping = await papers(db, topics, size)
    async with with_model(endpoint, fake, **settings) as opened:
        await opened.add_graph("papers", mapping)
        yield opened


def answering(pgs: PGS, answer: Answer) -> None:
    """Let the scripted models of an engine answer in another way."""
    for llm in (pgs.sweep_llm, pgs.synthesis_llm):
        assert isinstance(llm, ScriptedLLM)
        llm._answer = answer


def without_synthesis(answer: Answer = contract_reply) -> Answer:
    """A reader whose reports are never put together."""

    def reply(prompt: Prompt) -> Reply | Awaitable[Reply]:
        gone = prompt.task == "synthesis"
        return ModelUnavailableError("gone") if gone else answer(prompt)

    return reply


def asked(pgs: PGS) -> list[Prompt]:
    """The prompts that were paid for since the last look."""
    prompts: list[Prompt] = []
    for llm in (pgs.sweep_llm, pgs.synthesis_llm):
        assert isinstance(llm, ScriptedLLM)
        prompts += llm.prompts
        llm.prompts.clear()
    return prompts
