"""Findings in LangChain and neo4j-graphrag themselves, on a real database."""

from __future__ import annotations

import asyncio

import pytest

from pgs_neo4j import adapters
from pgs_neo4j.adapters import FindingQuery
from pgs_neo4j.engine import PGS
from pgs_neo4j.errors import UnknownRunError, UsageError
from tests.conftest import Endpoint
from tests.engines import own_engine

QUERY = FindingQuery(graph="papers", full_sweep=True)


@pytest.mark.thorough
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
        assert len(await stored.ainvoke("", k=5)) == 5
        assert len(await adapters.PGSDocuments.of(pgs, FindingQuery(run=run), k=3).ainvoke("")) == 3
        with pytest.raises(UsageError, match="ask for 1 or more"):
            await stored.ainvoke("", k=0)
        tool = stored.as_pgs_tool()
        call = {"name": "ask_graph", "args": {"question": "Why?"}, "id": "1", "type": "tool_call"}
        message = await tool.ainvoke(call)
        assert message.artifact["run"] == run
        assert message.content == (await pgs.runs.answer(run)).text
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
