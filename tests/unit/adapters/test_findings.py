"""Findings as items, and the thin adapters around them, on stand-ins of their libraries."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pgs_neo4j import adapters
from pgs_neo4j.adapters.findings import FindingQuery, find_findings
from pgs_neo4j.engine import PGS, Request
from pgs_neo4j.errors import UsageError
from pgs_neo4j.model import Answer, Citation, Coverage, Finding, Quote
from tests.fakes.frameworks import GRAPHRAG, LANGCHAIN, stand_in
from tests.fakes.requests import options_of

GOOD = Citation(alias="n1", partition=1, node="doi/1", title="Ice", element_id="4:x:1")
BAD = Citation(alias="n9", partition=1, valid=False)
LOOSE = Finding(text="It might melt.", citations=(BAD,))
FIRM = Finding(text="It melts.", citations=(GOOD, BAD), quotes=(Quote("melts", True),))
SHOWN = Finding(text="It is cold.", citations=(GOOD,))
COVERED = Coverage(partitions_swept=1, partitions_total=2, nodes_read=3, nodes_total=4)


def an_answer(run: str = "r1", shown: Any = None) -> Answer:
    reports = [SimpleNamespace(findings=(LOOSE, FIRM)), None]
    stand_in = SimpleNamespace(
        run=run, graph="papers", text="It melts.", partial=False, coverage=COVERED, cost=0.5,
        own_coverage=COVERED, warnings=("one",), shown=shown,
        sweeps=[SimpleNamespace(partition=n, report=report) for n, report in enumerate(reports, 1)],
    )  # fmt: skip
    return cast(Answer, stand_in)


class Engine:
    """Notes what it is asked, and answers."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.open = True

    async def execute(self, request: Request) -> Answer:
        await asyncio.sleep(0)
        self.asked.append((request.question, options_of(request)))
        return an_answer()

    @property
    def runs(self) -> Engine:
        return self

    async def answer(self, run: str) -> Answer:
        self.asked.append(run)
        return an_answer(run, SimpleNamespace(findings=(SHOWN,)))


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    """The engine that adapters open."""
    made = Engine()

    @asynccontextmanager
    async def connect(**given: Any) -> AsyncIterator[Engine]:
        made.asked.append(given)
        yield made
        made.open = False

    monkeypatch.setattr(PGS, "connect", connect)
    return made


async def listed(engine: Engine, **query: Any) -> Any:
    return await find_findings(cast(PGS, engine), "Why?", FindingQuery(**query))


async def test_findings_with_valid_citations_come_first_with_all_they_rest_on() -> None:
    engine = Engine()
    found = await listed(engine, graph="papers", knobs={"max_calls": 3})
    assert [item.content for item in found.items] == ["It melts.", "It might melt."]
    assert found.items[0].metadata == {
        "run": "r1", "graph": "papers", "partition": 1, "supported": True,
        "citations": [
            {"name": "P1:n1", "node": "doi/1", "title": "Ice", "element_id": "4:x:1",
             "valid": True},
            {"name": "P1:n9", "node": None, "title": None, "element_id": None, "valid": False},
        ],
        "quotes": [{"text": "melts", "found": True}],
        "doubts": [],
    }  # fmt: skip
    assert found.items[1].metadata["supported"] is False
    assert found.metadata["answer"] == "It melts."
    assert (found.metadata["nodes_read"], found.metadata["cost"]) == (3, 0.5)
    assert engine.asked == [
        ("Why?", {"graph": "papers", "mode": "full", "session_id": "default", "max_calls": 3})
    ]  # fmt: skip


async def test_a_stored_run_is_read_and_nothing_is_asked() -> None:
    engine = Engine()
    found = await listed(engine, run="r7", top_k=2)
    assert engine.asked == ["r7"]
    assert [item.content for item in found.items] == ["It melts.", "It is cold."]
    assert found.items[1].metadata["partition"] is None
    with pytest.raises(UsageError, match="top_k is 0"):
        await listed(engine, top_k=0)


@pytest.fixture
def retriever(monkeypatch: pytest.MonkeyPatch, engine: Engine) -> Iterator[Any]:
    stand_in(monkeypatch, GRAPHRAG, "graphrag")
    with adapters.PGSFindingsRetriever(graph="papers") as opened:
        yield opened
    assert not engine.open


def test_the_retriever_of_neo4j_graphrag_returns_records(retriever: Any, engine: Engine) -> None:
    result = retriever.get_search_results("Why?", max_cost=0.25, top_k=1)
    (record,) = result.records
    assert (record["content"], record["metadata"]["partition"]) == ("It melts.", 1)
    assert result.metadata["run"] == "r1"
    item = retriever.result_formatter(record)
    assert (item.content, item.metadata["supported"]) == ("It melts.", True)
    assert engine.asked[1][1]["max_cost"] == 0.25
    stored = retriever.get_search_results("", run="r7")
    assert stored.metadata["run"] == engine.asked[-1] == "r7"
    retriever.close()
    with pytest.raises(UsageError, match="it is closed"):
        retriever.get_search_results("Why?")


@pytest.fixture
def documents(monkeypatch: pytest.MonkeyPatch, engine: Engine) -> Any:
    stand_in(monkeypatch, LANGCHAIN, "langchain")
    return adapters.PGSDocuments


async def test_documents_and_a_tool_of_an_open_engine_in_its_loop_and_in_a_thread(
    documents: Any, engine: Engine
) -> None:
    retriever = documents.of(engine, FindingQuery(graph="papers", top_k=1))
    (document,) = await retriever.ainvoke("Why?")
    assert (document.page_content, document.metadata["partition"]) == ("It melts.", 1)
    (same,) = await asyncio.to_thread(retriever.invoke, "Why?")
    assert same.page_content == document.page_content
    with pytest.raises(UsageError, match="asynchronous form"):
        retriever.invoke("Why?")
    tool = documents.of(engine).as_pgs_tool("ask_papers")
    assert (tool.name, tool.response_format) == ("ask_papers", "content_and_artifact")
    text, artifact = await tool.coroutine("Why?")
    assert text == "It melts."
    assert [one["text"] for one in artifact["findings"]] == ["It melts.", "It might melt."]
    assert (await asyncio.to_thread(tool.func, "Why?"))[1]["run"] == "r1"
    retriever.close()
    assert engine.open
    with pytest.raises(UsageError, match="in a coroutine of its event loop"):
        await asyncio.to_thread(documents.of, engine)


def test_documents_with_an_engine_of_their_own(documents: Any, engine: Engine) -> None:
    retriever = documents.connect(FindingQuery(run="r7"), neo4j_uri="bolt://x")
    assert len(retriever.invoke("Why?")) == 3
    assert len(asyncio.run(retriever.ainvoke("Why?"))) == 3
    assert engine.asked[0]["neo4j_uri"] == "bolt://x"
    retriever.close()
    assert not engine.open
    with pytest.raises(UsageError, match="it is closed"):
        asyncio.run(retriever.ainvoke("Why?"))
