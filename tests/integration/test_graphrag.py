"""The retriever in GraphRAG of neo4j-graphrag, with a scripted model of its own interface."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from pgs_neo4j.database.connection import Database
from pgs_neo4j.engine import catalog
from pgs_neo4j.errors import DatabaseUnavailableError, QuestionError, UnknownGraphError, UsageError
from pgs_neo4j.manual import read_page
from tests.conftest import Endpoint
from tests.database import alter
from tests.engines import engine_on
from tests.fakes.openai_server import contract_answer
from tests.graphs import MAPPING, checksum, papers

pytest.importorskip(
    "neo4j_graphrag", reason="neo4j-graphrag is not installed (extra neo4j-graphrag)"
)

import neo4j_graphrag.llm
from neo4j_graphrag.generation import GraphRAG
from neo4j_graphrag.llm import LLMInterfaceV2
from neo4j_graphrag.llm.types import LLMResponse

from pgs_neo4j.adapters import PGSRetriever

CODE = re.compile(r"```python[^\n]*\n(.*?)```", re.DOTALL)


class Scripted(LLMInterfaceV2):  # type: ignore[misc]
    """Answers with a fixed sentence, and remembers its prompts."""

    prompts: list[str]

    def __init__(self, model_name: str = "scripted") -> None:
        super().__init__(model_name)
        self.prompts = []

    def invoke(self, **given: Any) -> LLMResponse:
        self.prompts.append("\n".join(message["content"] for message in given["input"]))
        return LLMResponse(content="Paper 101 does.")

    async def ainvoke(self, **given: Any) -> LLMResponse:
        return self.invoke(**given)


@pytest.fixture
def settings(endpoint: Endpoint) -> dict[str, Any]:
    return {
        "neo4j_uri": endpoint.uri,
        "neo4j_user": endpoint.user,
        "neo4j_password": endpoint.password,
    }


@pytest.fixture
async def stored(db: Database) -> None:
    await catalog.add(db, "papers", await papers(db))


@pytest.fixture
def retriever(stored: None, settings: dict[str, Any]) -> Iterator[PGSRetriever]:
    with PGSRetriever(graph="papers", **settings) as opened:
        yield opened
    assert not [thread for thread in threading.enumerate() if thread.name == "pgs-retriever"]


async def test_graphrag_answers_from_what_pgs_finds(
    retriever: PGSRetriever, endpoint: Endpoint, db: Database
) -> None:
    before = await checksum(db)
    model = Scripted()
    rag = GraphRAG(retriever=retriever, llm=model)
    result = await asyncio.to_thread(
        rag.search, "What of fact101?", retriever_config={"top_k": 3}, return_context=True
    )
    assert result.answer == "Paper 101 does."
    items = result.retriever_result.items
    async with engine_on(endpoint) as pgs:
        found = await pgs.search("What of fact101?", graph="papers", top_k=3)
    assert [item.content for item in items] == [item.content for item in found.items]
    assert [item.metadata["key"] for item in items] == [item.key for item in found.items]
    assert items[0].metadata.keys() == found.items[0].metadata.keys()
    assert all(item.content in model.prompts[0] for item in items)
    told = result.retriever_result.metadata
    assert (told["mode"], told["__retriever"]) == ("hybrid", "PGSRetriever")
    assert {path["name"] for path in told["paths"]} == {path.name for path in found.paths}
    assert await checksum(db) == before


async def test_modes_and_errors_are_those_of_a_search(retriever: PGSRetriever) -> None:
    naive = retriever.search(query_text="fact101", mode="naive", top_k=1)
    index, vectors = naive.metadata["warnings"]
    assert index.endswith("run: pgs partition --graph papers")
    assert vectors == "the graph stores no embeddings, so words decide alone"
    assert naive.metadata["changed"] is False
    assert len(naive.items) == 1
    with pytest.raises(UsageError, match="there is no search mode 'odd'"):
        retriever.search(query_text="fact101", mode="odd")
    with pytest.raises(UsageError, match="top_k is 0"):
        retriever.search(query_text="fact101", top_k=0)
    with pytest.raises(QuestionError, match="empty"):
        retriever.search(query_text=" ")
    parameters = retriever.get_parameters().model_dump_tool()["properties"]
    assert (parameters["top_k"]["type"], parameters["mode"]["type"]) == ("integer", "string")
    retriever.close()
    retriever.close()
    with pytest.raises(UsageError, match="it is closed"):
        retriever.search(query_text="fact101")


async def test_rows_of_a_statement_are_items(retriever: PGSRetriever) -> None:
    found = await asyncio.to_thread(
        retriever.search, query_text="How many papers are there?", mode="cypher"
    )
    assert [(one.content, one.metadata) for one in found.items] == [
        ("count: 160", {"row": {"count": 160}})
    ]
    assert "count" in found.metadata["statement"]


async def test_a_mapping_an_embedder_and_a_formatter_may_be_passed_and_no_thread_is_left(
    stored: None, settings: dict[str, Any], db: Database
) -> None:
    await alter(db, "MATCH (p:Paper) SET p.vector = [toFloat(p.topic), 1.0]")
    mapping = replace(MAPPING, embedding="vector")
    titles = neo4j_graphrag.types.RetrieverResultItem
    with PGSRetriever(
        mapping=mapping,
        embedder="none",
        result_formatter=lambda record: titles(content=record["metadata"]["title"]),
        **settings,
    ) as opened:
        found = opened.search(query_text="fact101", top_k=1)
        assert [item.content for item in found.items] == ["Paper 101"]
    with (
        PGSRetriever(graph="nowhere", **settings) as opened,
        pytest.raises(UnknownGraphError),
    ):
        opened.search(query_text="fact101")
    with pytest.raises(DatabaseUnavailableError):
        PGSRetriever(graph="papers", neo4j_uri="bolt://127.0.0.1:1", neo4j_password="x")
    assert not [thread for thread in threading.enumerate() if thread.name == "pgs-retriever"]


async def test_the_code_of_the_manual_works(
    stored: None,
    endpoint: Endpoint,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in endpoint.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(neo4j_graphrag.llm, "OpenAILLM", Scripted)
    (code,) = (block for block in CODE.findall(read_page("python")) if "PGSRetriever" in block)
    exec(compile(code, "python.md", "exec"), {})
    answer, first, *_ = capsys.readouterr().out.splitlines()
    assert answer == "Paper 101 does."
    assert first.startswith("doi/")


class Reader(LLMInterfaceV2):  # type: ignore[misc]
    """Stands in for a vendor's model: reports, and writes an answer of reports."""

    def __init__(self, model_name: str, *, rate_limit_handler: object) -> None:
        super().__init__(model_name)
        self.handler = rate_limit_handler

    def invoke(self, messages: list[dict[str, str]], **given: Any) -> LLMResponse:
        return LLMResponse(content=contract_answer({"messages": messages}))

    async def ainvoke(self, messages: list[dict[str, str]], **given: Any) -> LLMResponse:
        return self.invoke(messages, **given)


async def test_the_code_of_the_manual_for_findings_works(
    stored: None,
    endpoint: Endpoint,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in endpoint.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(neo4j_graphrag.llm, "AnthropicLLM", Reader)
    blocks = CODE.findall(read_page("python"))
    (code,) = (block for block in blocks if "GraphRAGModel(" in block)
    exec(compile(code, "python.md", "exec"), {})
    first, *_ = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"A finding of the fake model \[n\d+\]\. \['Paper \d+'\]", first)
