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
"""Knobs with which each topic of the papers becomes a partition."""


def engine_on(
    endpoint: Endpoint, answer: Answer = contract_reply, **settings: Any
) -> AbstractAsyncContextManager[PGS]:
    """Open an engine whose model writes minimal accepted reports, or answers otherwise."""
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
    """Open an engine whose model is the real client on a fake endpoint."""
    return with_address(endpoint, fake.base_url, **settings)


def with_address(
    endpoint: Endpoint, base_url: str, **settings: Any
) -> AbstractAsyncContextManager[PGS]:
    """Open an engine whose model is a real client on a fake of any interface."""
    models = {"llm_provider": "openai", "sweep_model": "reader", "synthesis_model": "writer"}
    return PGS.connect(
        neo4j_uri=endpoint.uri,
        neo4j_user=endpoint.user,
        neo4j_password=endpoint.password,
        llm_base_url=base_url,
        **KNOBS | models | settings,
    )


def without_models(endpoint: Endpoint, **settings: Any) -> AbstractAsyncContextManager[PGS]:
    """Open an engine that calls no model."""
    return PGS.connect_without_models(
        neo4j_uri=endpoint.uri,
        neo4j_user=endpoint.user,
        neo4j_password=endpoint.password,
        **settings,
    )


def own_engine(endpoint: Endpoint) -> dict[str, Any]:
    """Return the arguments with which an adapter opens an engine on the graph ``papers``."""
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
    """Open an engine on topics of papers, which are created through ``db``."""
    mapping = await papers(db, topics, size, isolates)
    async with engine_on(endpoint, answer, **KNOBS | settings) as opened:
        await opened.graphs.add("papers", mapping)
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
    """Open an engine on topics of papers, whose model is the real client on a fake endpoint."""
    mapping = await papers(db, topics, size)
    async with with_model(endpoint, fake, **settings) as opened:
        await opened.graphs.add("papers", mapping)
        yield opened


def answering(pgs: PGS, answer: Answer) -> None:
    """Change how the scripted models of an engine answer."""
    for llm in (pgs.sweep_llm, pgs.synthesis_llm):
        assert isinstance(llm, ScriptedLLM)
        llm._answer = answer


def without_synthesis(answer: Answer = contract_reply) -> Answer:
    """Return a reader whose synthesis always fails, so that its reports stay separate."""

    def reply(prompt: Prompt) -> Reply | Awaitable[Reply]:
        gone = prompt.task == "synthesis"
        return ModelUnavailableError("gone") if gone else answer(prompt)

    return reply


def asked(pgs: PGS) -> list[Prompt]:
    """Return the prompts that were paid for since the last call of this function."""
    prompts: list[Prompt] = []
    for llm in (pgs.sweep_llm, pgs.synthesis_llm):
        assert isinstance(llm, ScriptedLLM)
        prompts += llm.prompts
        llm.prompts.clear()
    return prompts
