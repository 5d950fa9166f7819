"""Findings in LangChain and neo4j-graphrag themselves, on a real database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from pgs_neo4j import adapters
from pgs_neo4j.adapters import FindingQuery, GraphRAGEmbedder, GraphRAGModel
from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import UnknownRunError
from pgs_neo4j.llm.scripted import ScriptedLLM, contract_reply
from tests.conftest import Endpoint
from tests.engines import KNOBS, engine_on_papers

QUERY = FindingQuery(graph="papers", full_sweep=True)


@pytest.fixture
async def pgs(endpoint: Endpoint, db: Database) -> AsyncIterator[PGS]:
    async with engine_on_papers(endpoint, db) as opened:
        yield opened


def own_engine(endpoint: Endpoint) -> dict[str, Any]:
    return {
        "neo4j_uri": endpoint.uri, "neo4j_user": endpoint.user,
        "neo4j_password": endpoint.password, "graph": "papers",
        "sweep_llm": ScriptedLLM(contract_reply), "synthesis_llm": ScriptedLLM(contract_reply),
        **KNOBS,
    }  # fmt: skip


async def test_langchain_retrieves_findings_and_asks_by_a_tool(
    pgs: PGS, endpoint: Endpoint
) -> None:
    pytest.importorskip("langchain_core", reason="langchain-core is not installed (langchain)")
    retriever = adapters.PGSDocuments.of(pgs, QUERY)
    documents = await retriever.ainvoke("Why?")
    assert len(documents) == 12
    cited = documents[0].metadata["citations"][0]
    assert cited["node"].startswith("doi/")
    node = await pgs.browse.node("papers", cited["element_id"])
    assert node.title == cited["title"]
    again = await asyncio.to_thread(retriever.invoke, "Why?")
    assert [one.page_content for one in again] == [one.page_content for one in documents]
    run = documents[0].metadata["run"]
    stored = adapters.PGSDocuments.connect(FindingQuery(run=run, top_k=2), **own_engine(endpoint))
    try:
        assert [one.metadata["run"] for one in await stored.ainvoke("")] == [run, run]
        tool = stored.as_pgs_tool()
        call = {"name": "ask_graph", "args": {"question": "Why?"}, "id": "1", "type": "tool_call"}
        message = await tool.ainvoke(call)
        assert message.artifact["run"] == run
        assert message.content == (await pgs.answer(run)).text
        assert [*tool.args] == ["question"]
    finally:
        await asyncio.to_thread(stored.close)


async def test_neo4j_graphrag_answers_from_findings(pgs: PGS, endpoint: Endpoint) -> None:
    pytest.importorskip("neo4j_graphrag", reason="neo4j-graphrag is not installed")
    answer = await pgs.execute("Why?", graph="papers", full_sweep=True)

    def retrieve() -> None:
        with adapters.PGSFindingsRetriever(**own_engine(endpoint)) as retriever:
            asked = retriever.search(query_text="Why?", full_sweep=True, top_k=3)
            assert len(asked.items) == 3
            assert asked.metadata["__retriever"] == "PGSFindingsRetriever"
            stored = retriever.search(query_text="Why?", run=answer.run)
            assert stored.metadata["run"] == answer.run
            assert len(stored.items) == 12
            assert stored.items[0].metadata["citations"][0]["valid"]
            with pytest.raises(UnknownRunError):
                retriever.search(query_text="Why?", run="r000000000000")
            names = retriever.get_parameters().model_dump_tool()["properties"]
            assert {"mode", "run", "max_cost", "top_k"} <= {*names}

    await asyncio.to_thread(retrieve)


async def test_a_model_and_an_embedder_of_neo4j_graphrag_read_a_graph(
    endpoint: Endpoint, db: Database
) -> None:
    pytest.importorskip("neo4j_graphrag", reason="neo4j-graphrag is not installed")
    from neo4j_graphrag.embeddings.base import Embedder
    from neo4j_graphrag.exceptions import LLMGenerationError
    from neo4j_graphrag.llm import LLMInterfaceV2
    from neo4j_graphrag.llm.types import LLMResponse, LLMUsage

    class Model(LLMInterfaceV2):  # type: ignore[misc]
        """Fails once, then replies with what every contract accepts."""

        failed = False

        def invoke(self, input: Any, **given: Any) -> LLMResponse:  # noqa: A002
            raise NotImplementedError

        async def ainvoke(self, input: Any, **given: Any) -> LLMResponse:  # noqa: A002
            if not self.failed:
                self.failed = True
                raise LLMGenerationError("canary")
            text = (
                "## Domain State\nPapers.\n\n## Findings\n- It melts [n1].\n\n## Absences\n- none"
            )
            usage = LLMUsage(request_tokens=70, response_tokens=5, total_tokens=75)
            return LLMResponse(content=text, usage=usage)

    class Letters(Embedder):  # type: ignore[misc]
        """Counts letters."""

        def embed_query(self, text: str) -> list[float]:
            return [1.0 + text.count(letter) for letter in "abcdefgh"]

    model = GraphRAGModel(Model("by-hand"))
    embedder = GraphRAGEmbedder(Letters(), "letters")
    async with engine_on_papers(endpoint, db) as pgs:
        pgs.sweep_llm, pgs.embedder = model, embedder
        answer = await pgs.execute("Why does it melt?", graph="papers", full_sweep=True)
    assert answer.coverage.partitions_swept == 4
    assert "by-hand" in answer.model
    assert all(sweep.usage.input_tokens >= 70 for sweep in answer.sweeps)
    texts = [finding.text for sweep in answer.sweeps for finding in sweep.report.findings]
    assert any("It melts" in text for text in texts)
