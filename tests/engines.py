"""Engines on the test database, with a scripted model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.llm.scripted import ScriptedLLM, contract_reply
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


def engine_on(endpoint: Endpoint, **settings: Any) -> AbstractAsyncContextManager[PGS]:
    """An engine whose model gives the least reports that are accepted."""
    return PGS.connect(
        neo4j_uri=endpoint.uri,
        neo4j_user=endpoint.user,
        neo4j_password=endpoint.password,
        sweep_llm=ScriptedLLM(contract_reply),
        synthesis_llm=ScriptedLLM(contract_reply),
        **settings,
    )


def with_model(
    endpoint: Endpoint, fake: FakeOpenAI, **settings: Any
) -> AbstractAsyncContextManager[PGS]:
    """An engine whose model is the real client on a fake endpoint."""
    return PGS.connect(
        neo4j_uri=endpoint.uri,
        neo4j_user=endpoint.user,
        neo4j_password=endpoint.password,
        llm_base_url=fake.base_url,
        llm_provider="openai",
        sweep_model="reader",
        synthesis_model="writer",
        **KNOBS | settings,
    )


@asynccontextmanager
async def engine_on_papers(endpoint: Endpoint, db: Database, **settings: Any) -> AsyncIterator[PGS]:
    """The same on four topics of papers; the others' connection is ``db``."""
    mapping = await papers(db)
    async with engine_on(endpoint, **KNOBS | settings) as opened:
        await opened.add_graph("papers", mapping)
        yield opened
