"""LangChain's own tests of retrievers and tools, of which none is left out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from pgs_neo4j.adapters import FindingQuery
from pgs_neo4j.database.connection import connect
from tests.conftest import Endpoint
from tests.database import empty
from tests.engines import engine_on_papers, own_engine

pytest.importorskip("langchain_core", reason="langchain-core is not installed (langchain)")
pytest.importorskip("langchain_tests", reason="langchain-tests is not installed (suites)")

from langchain_tests.integration_tests import (
    RetrieversIntegrationTests,
    ToolsIntegrationTests,
)
from langchain_tests.unit_tests import ToolsUnitTests

from pgs_neo4j.adapters import PGSDocuments

pytestmark = pytest.mark.thorough
OPEN: dict[str, PGSDocuments] = {}


@pytest.fixture(autouse=True, scope="module")
async def opened(endpoint: Endpoint) -> AsyncIterator[None]:
    """A retriever with an engine of its own, as the suite calls it from outside of any loop."""
    async with connect(endpoint.uri, endpoint.user, endpoint.password) as db:
        await empty(db)
        async with engine_on_papers(endpoint, db) as pgs:
            await pgs.partitions.build("papers")
            query = FindingQuery(graph="papers", full_sweep=True)
            OPEN["papers"] = PGSDocuments.connect(query, **own_engine(endpoint))
            yield
            await asyncio.to_thread(OPEN.pop("papers").close)


class TestRetriever(RetrieversIntegrationTests):  # type: ignore[misc]
    @property
    def retriever_constructor(self) -> type[PGSDocuments]:
        return PGSDocuments

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"access": OPEN["papers"].access, "query": OPEN["papers"].query}

    @property
    def retriever_query_example(self) -> str:
        return "Why?"


class TestToolIntegration(ToolsIntegrationTests):  # type: ignore[misc]
    @property
    def tool_constructor(self) -> Any:
        return OPEN["papers"].as_pgs_tool()

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return {"question": "Why?"}


class TestTool(ToolsUnitTests):  # type: ignore[misc]
    @property
    def tool_constructor(self) -> Any:
        return OPEN["papers"].as_pgs_tool()

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return {"question": "Why?"}
